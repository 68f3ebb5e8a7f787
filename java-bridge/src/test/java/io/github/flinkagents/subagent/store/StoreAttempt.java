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

import io.github.flinkagents.subagent.protocol.KeyGroups;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** One attempt of a subtask in a test. An attempt that "dies" is just not used any more: nothing it holds locks anybody out. */
final class StoreAttempt implements AutoCloseable {
    static final KeyGroups ALL = new KeyGroups(0, 127);

    private final ActionStateStore store;
    private final StoreTail tail;

    private StoreAttempt(ActionStateStore store, StoreTail tail) {
        this.store = store;
        this.tail = tail;
    }

    static StoreAttempt open(ActionStateStore store, StoreOpening opening) throws StoreException {
        try {
            return new StoreAttempt(store, store.open(opening));
        } catch (StoreException e) {
            store.close();
            throw e;
        }
    }

    /** An opening of the job that most tests use. */
    static StoreOpening opening(String submission, KeyGroups keyGroups, StoreOpening.Restored restored) {
        return new StoreOpening("job", "agent-x", submission, keyGroups, 128, restored);
    }

    static JournalRecord record(int keyGroup, long run, int number) {
        return record(keyGroup, run, number, keyGroup + "/" + run + "/" + number);
    }

    static JournalRecord record(int keyGroup, long run, int number, String payload) {
        byte[] key = ("skey-" + keyGroup).getBytes(StandardCharsets.UTF_8);
        return new JournalRecord(keyGroup, key, run, number, payload.getBytes(StandardCharsets.UTF_8));
    }

    ActionStateStore store() {
        return store;
    }

    List<JournalRecord> tail() {
        return tail.records();
    }

    StoreTail wholeTail() {
        return tail;
    }

    CompletableFuture<Void> append(JournalRecord... records) {
        return store.append(List.of(records));
    }

    /** Appends and waits for the acknowledgement. */
    List<JournalRecord> record(JournalRecord... records) {
        append(records).join();
        return List.of(records);
    }

    /** What a checkpoint taken now would keep. */
    StoreOpening.Restored checkpoint() {
        return checkpoint(1);
    }

    /** What the checkpoint of this number, taken now, would keep. */
    StoreOpening.Restored checkpoint(long checkpointId) {
        return new StoreOpening.Restored(tail.storeId(), store.positions(checkpointId));
    }

    /** One checkpoint of several subtasks. */
    static StoreOpening.Restored checkpoint(StoreAttempt... subtasks) {
        return checkpoint(1, subtasks);
    }

    /** The checkpoint of this number of several subtasks. */
    static StoreOpening.Restored checkpoint(long checkpointId, StoreAttempt... subtasks) {
        Map<Integer, StorePosition> positions = new HashMap<>();
        for (StoreAttempt subtask : subtasks) {
            positions.putAll(subtask.store.positions(checkpointId));
        }
        return new StoreOpening.Restored(subtasks[0].tail.storeId(), positions);
    }

    @Override
    public void close() {
        store.close();
    }
}
