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

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * One attempt's access to the store, for one operator subtask and its key groups.
 *
 * <p>Life cycle: {@link #open} once, then any of the others, then {@link #close}. An instance whose {@code open} or one of
 * whose appends failed is of no further use: close it and fail the task.
 *
 * <p>Thread: all methods are called on the mailbox thread; futures complete on a thread of the store.
 */
public interface ActionStateStore extends AutoCloseable {
    /**
     * Takes over the key groups from every earlier attempt, then reads what was recorded for them since the positions.
     *
     * <p>Guarantee: the tail is complete, or the call fails. No earlier attempt records anything for the key groups any
     * more once this returned. Blocks on I/O.
     *
     * @throws StoreException when the store cannot be used, is not the one of the checkpoint, or lost what is needed
     */
    @OnMailboxThread
    StoreTail open(StoreOpening opening) throws StoreException;

    /**
     * Appends records; those of one run in the order of their numbers.
     *
     * <p>Guarantee: the future completes normally when all records of the batch survive the death of the process, or
     * exceptionally with a {@link StoreException}. Futures complete in the order of the calls; after the first that
     * failed, every later one fails. Never blocks on I/O, and completes every future at {@link #close} at the latest.
     *
     * @throws IllegalArgumentException when a record is of a key group that was not opened
     */
    @OnMailboxThread
    CompletableFuture<Void> append(List<JournalRecord> batch);

    /**
     * Returns for each opened key group the position behind everything appended so far, acknowledged or not.
     *
     * @param checkpointId the checkpoint or savepoint that will hold the positions
     */
    @OnMailboxThread
    Map<Integer, StorePosition> positions(long checkpointId);

    /**
     * Allows the store to delete what lies before these positions, since the checkpoint is complete.
     *
     * <p>Returns at once. A deletion that fails is logged and tried again with the next release; it never fails the task.
     *
     * @param checkpointId the checkpoint that completed
     * @param positionsOfOldestRetained the positions, per opened key group, of the oldest checkpoint that must stay
     *     recoverable; {@link RetainedCheckpoints} keeps them
     */
    @OnMailboxThread
    void release(long checkpointId, Map<Integer, StorePosition> positionsOfOldestRetained);

    /** Fails the appends that are not durable yet and frees everything. May be called at any time, also twice; never throws. */
    @Override
    void close();
}
