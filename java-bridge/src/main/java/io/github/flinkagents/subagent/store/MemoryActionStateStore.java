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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The store that keeps nothing: appends complete at once, tails are empty. For unit tests, and for jobs that accept that
 * calls are repeated after a failure.
 */
public final class MemoryActionStateStore implements ActionStateStore {
    private static final Logger LOG = LoggerFactory.getLogger(MemoryActionStateStore.class);
    private static final String STORE_ID = "memory";
    private static final StorePosition NOWHERE = StorePosition.of(new byte[0]);

    private @Nullable StoreOpening opening;
    private boolean isClosed;

    @Override
    public StoreTail open(StoreOpening opened) {
        opening = opened;
        LOG.info(
                "Operator {} keeps the outcomes of durable calls in memory (action-state-store: memory): after a failure"
                        + " or restart every call since the last checkpoint is made again. Set action-state-store:"
                        + " embedded to keep them",
                opened.operatorUid());
        return new StoreTail(STORE_ID, List.of(), 0);
    }

    @Override
    public CompletableFuture<Void> append(List<JournalRecord> batch) {
        StoreOpening open = opened();
        batch.forEach(record -> open.requireOwn(record.keyGroup()));
        if (isClosed) {
            return CompletableFuture.failedFuture(new StoreException(
                    ErrorCode.STORE_UNAVAILABLE, "The store was closed; nothing is recorded any more"));
        }
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public Map<Integer, StorePosition> positions(long checkpointId) {
        return opened().keyGroups().stream()
                .boxed()
                .collect(Collectors.toMap(Function.identity(), keyGroup -> NOWHERE));
    }

    @Override
    public void release(long checkpointId, Map<Integer, StorePosition> positionsOfOldestRetained) {
        // Nothing is kept, so nothing is released.
    }

    @Override
    public void close() {
        isClosed = true;
    }

    private StoreOpening opened() {
        if (opening == null) {
            throw new IllegalStateException("The store is not open");
        }
        return opening;
    }
}
