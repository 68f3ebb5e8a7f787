/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package io.github.flinkagents.subagent.store;

import io.github.flinkagents.subagent.protocol.ErrorCode;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Reads the tail that a {@link TailPlan} describes, completely, or fails. */
final class TailReader {
    private final FenceDirectory fences;
    private final TailPlan plan;
    private final StoreSettings settings;

    TailReader(FenceDirectory fences, TailPlan plan, StoreSettings settings) {
        this.fences = fences;
        this.plan = plan;
        this.settings = settings;
    }

    /** Returns the tail; called once the own cut is published, so that nothing is added to it any more. */
    StoreTail read(String storeId) throws IOException, StoreException {
        FenceView view = fences.view();
        requireComplete(plan.missing(view));
        Damage damage = new Damage("The embedded store", "bring the files back from a backup, or ");
        JournalAssembly journals = new JournalAssembly();
        for (LogSlice slice : plan.slices(view)) {
            read(slice, damage, journals);
        }
        damage.settle(settings.onCorrupt());
        // A writer of an earlier attempt may have released logs while they were read; its floors were there before.
        requireComplete(plan.missing(fences.view()));
        List<JournalRecord> records = journals.records();
        return new StoreTail(storeId, records, damage.count());
    }

    private void read(LogSlice slice, Damage damage, JournalAssembly journals) throws IOException, StoreException {
        long number = slice.fence().number();
        LogReader log = new LogReader(fences.writerFolder(number), slice.fence(), damage);
        if (!log.reachesBackTo(slice.lowest())) {
            requireComplete(Optional.of("the log of attempt " + number + " was released or deleted in part"));
        }
        log.read(slice.lowest(), slice.highest(), (record, start, end) -> {
            if (slice.holds(record, start, end)) {
                journals.add(number, record);
            }
        });
    }

    private void requireComplete(Optional<String> missing) throws StoreException {
        if (missing.isPresent() && !settings.allowLostTail()) {
            throw new StoreException(
                    ErrorCode.STORE_LOST,
                    "The embedded store in " + fences.folder() + " has lost records that the restore needs: "
                            + missing.get()
                            + ". Restore from one of the last " + settings.retainedCheckpoints()
                            + " checkpoints (store.retained-checkpoints), or set store.allow-lost-tail: true, which"
                            + " repeats the calls whose records are gone");
        }
    }
}
