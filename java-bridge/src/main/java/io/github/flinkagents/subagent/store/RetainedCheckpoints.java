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

import io.github.flinkagents.subagent.protocol.OnMailboxThread;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Remembers the store positions of the checkpoints that must stay recoverable ({@code store.retained-checkpoints}), so that
 * the store is never told to release more. Lives in memory beside the store: a restored checkpoint counts as the oldest
 * completed one, and older ones were the business of the attempts before.
 *
 * <p>Savepoints are not noted: they are kept by users, do not count towards the number and do not advance the release.
 */
@OnMailboxThread
public final class RetainedCheckpoints {
    private final int count;
    private final TreeMap<Long, Map<Integer, StorePosition>> pending = new TreeMap<>();
    private final Deque<Map<Integer, StorePosition>> completed = new ArrayDeque<>();

    /**
     * Starts the bookkeeping of one attempt.
     *
     * @param count how many completed checkpoints stay recoverable, at least 1
     * @param restored the positions of the restored checkpoint; empty on a fresh start
     */
    public RetainedCheckpoints(int count, Map<Integer, StorePosition> restored) {
        if (count < 1) {
            throw new IllegalArgumentException("store.retained-checkpoints is " + count + "; it must be at least 1");
        }
        this.count = count;
        if (!restored.isEmpty()) {
            completed.add(Map.copyOf(restored));
        }
    }

    /** Notes the positions at the snapshot of a checkpoint. */
    public void snapshotTaken(long checkpointId, Map<Integer, StorePosition> positions) {
        pending.put(checkpointId, Map.copyOf(positions));
    }

    /**
     * Notes that a checkpoint is complete; older ones that did not complete never will.
     *
     * @return the positions of the oldest checkpoint to be kept, to be given to {@link ActionStateStore#release}; empty while
     *     fewer than the required number have completed, or when the checkpoint is unknown
     */
    public Optional<Map<Integer, StorePosition>> checkpointCompleted(long checkpointId) {
        Map<Integer, StorePosition> positions = pending.get(checkpointId);
        if (positions == null) {
            return Optional.empty();
        }
        pending.headMap(checkpointId, true).clear();
        completed.addLast(positions);
        while (completed.size() > count) {
            completed.removeFirst();
        }
        return completed.size() < count ? Optional.empty() : Optional.of(completed.getFirst());
    }

    /** Forgets a checkpoint that failed. */
    public void checkpointAborted(long checkpointId) {
        pending.remove(checkpointId);
    }
}
