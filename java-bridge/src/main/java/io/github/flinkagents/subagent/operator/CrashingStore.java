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
package io.github.flinkagents.subagent.operator;

import io.github.flinkagents.subagent.protocol.OnMailboxThread;
import io.github.flinkagents.subagent.store.ActionStateStore;
import io.github.flinkagents.subagent.store.JournalRecord;
import io.github.flinkagents.subagent.store.StoreException;
import io.github.flinkagents.subagent.store.StoreOpening;
import io.github.flinkagents.subagent.store.StorePosition;
import io.github.flinkagents.subagent.store.StoreTail;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Any store, with the process dying at an armed point around its methods: for tests (decision 0011). */
@OnMailboxThread
final class CrashingStore implements ActionStateStore {
    private final ActionStateStore store;
    private final ArmedCrash crash;

    CrashingStore(ActionStateStore store, ArmedCrash crash) {
        this.store = store;
        this.crash = crash;
    }

    @Override
    public StoreTail open(StoreOpening opening) throws StoreException {
        crash.pass(CrashPoint.BEFORE_OPEN);
        StoreTail tail = store.open(opening);
        crash.pass(CrashPoint.AFTER_OPEN);
        return tail;
    }

    @Override
    public CompletableFuture<Void> append(List<JournalRecord> batch) {
        crash.pass(CrashPoint.BEFORE_APPEND);
        CompletableFuture<Void> durable = store.append(batch);
        crash.pass(CrashPoint.AFTER_APPEND);
        CompletableFuture<Void> told = new CompletableFuture<>();
        durable.whenComplete((nothing, failed) -> {
            if (failed != null) {
                told.completeExceptionally(failed);
                return;
            }
            crash.pass(CrashPoint.BEFORE_ACKNOWLEDGEMENT);
            told.complete(null);
            crash.pass(CrashPoint.AFTER_ACKNOWLEDGEMENT);
        });
        return told;
    }

    @Override
    public Map<Integer, StorePosition> positions(long checkpointId) {
        return store.positions(checkpointId);
    }

    @Override
    public void release(long checkpointId, Map<Integer, StorePosition> positionsOfOldestRetained) {
        crash.pass(CrashPoint.BEFORE_RELEASE);
        store.release(checkpointId, positionsOfOldestRetained);
        crash.pass(CrashPoint.AFTER_RELEASE);
    }

    @Override
    public void close() {
        store.close();
    }
}
