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

import io.github.flinkagents.subagent.store.ActionStateStore;
import io.github.flinkagents.subagent.store.JournalRecord;
import io.github.flinkagents.subagent.store.StoreException;
import io.github.flinkagents.subagent.store.StoreOpening;
import io.github.flinkagents.subagent.store.StorePosition;
import io.github.flinkagents.subagent.store.StoreTail;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** A store whose acknowledgements the test gives. */
final class HeldStore implements ActionStateStore {
    final List<List<JournalRecord>> batches = new ArrayList<>();
    final List<CompletableFuture<Void>> futures = new ArrayList<>();
    boolean completesAtOnce;
    StoreException failsWith;

    @Override
    public StoreTail open(StoreOpening opening) {
        return new StoreTail("held", List.of(), 0);
    }

    @Override
    public CompletableFuture<Void> append(List<JournalRecord> batch) {
        batches.add(List.copyOf(batch));
        if (failsWith != null) {
            return CompletableFuture.failedFuture(failsWith);
        }
        CompletableFuture<Void> future =
                completesAtOnce ? CompletableFuture.completedFuture(null) : new CompletableFuture<>();
        futures.add(future);
        return future;
    }

    @Override
    public Map<Integer, StorePosition> positions(long checkpointId) {
        return Map.of();
    }

    @Override
    public void release(long checkpointId, Map<Integer, StorePosition> positionsOfOldestRetained) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        // Nothing to free.
    }
}
