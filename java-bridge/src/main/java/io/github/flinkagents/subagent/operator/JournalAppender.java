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
import io.github.flinkagents.subagent.python.TaskFailure;
import io.github.flinkagents.subagent.store.ActionStateStore;
import io.github.flinkagents.subagent.store.JournalRecord;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;

/**
 * Collects what one entry call appends and hands it to the store as one batch; collects acknowledgements for the next
 * drain. An append that fails fails the task: nobody is told that it is recorded (S1.1).
 *
 * <p>Thread: the mailbox thread; the store completes batches on its own.
 */
@OnMailboxThread
final class JournalAppender {
    private final ActionStateStore store;
    private final TaskFailure failure;
    private final Runnable wake;
    private final Queue<List<Long>> acknowledged = new ConcurrentLinkedQueue<>();
    private List<JournalRecord> records = new ArrayList<>();
    private List<Long> seqs = new ArrayList<>();

    JournalAppender(ActionStateStore store, TaskFailure failure, Runnable wake) {
        this.store = store;
        this.failure = failure;
        this.wake = wake;
    }

    /** Adds a record to the batch of this entry call. */
    void append(long seq, JournalRecord journalRecord) {
        records.add(journalRecord);
        seqs.add(seq);
    }

    /** Hands the batch to the store; at the end of every entry call. */
    void flush() {
        if (records.isEmpty()) {
            return;
        }
        List<Long> batch = seqs;
        CompletableFuture<Void> durable = store.append(records);
        records = new ArrayList<>();
        seqs = new ArrayList<>();
        durable.whenComplete((nothing, failed) -> {
            if (failed == null) {
                acknowledged.add(batch);
            } else {
                failure.set(unwrap(failed));
            }
            wake.run();
        });
    }

    /** Appends one record and waits until it is durable, outside of the mailbox (E3.16). */
    void commit(JournalRecord journalRecord) throws Exception {
        // What the run has appended before must not come behind it.
        flush();
        try {
            store.append(List.of(journalRecord)).get();
        } catch (ExecutionException failed) {
            throw unwrap(failed) instanceof Exception cause ? cause : failed;
        }
    }

    /** Takes the sequence numbers acknowledged since the last time, packed as big-endian 64-bit numbers. */
    byte[] takeAcknowledged() {
        List<Long> taken = new ArrayList<>();
        for (List<Long> batch = acknowledged.poll(); batch != null; batch = acknowledged.poll()) {
            taken.addAll(batch);
        }
        ByteBuffer packed = ByteBuffer.allocate(Long.BYTES * taken.size());
        taken.forEach(packed::putLong);
        return packed.array();
    }

    private static Throwable unwrap(Throwable failed) {
        boolean isWrapper = failed instanceof CompletionException || failed instanceof ExecutionException;
        return isWrapper && failed.getCause() != null ? failed.getCause() : failed;
    }
}
