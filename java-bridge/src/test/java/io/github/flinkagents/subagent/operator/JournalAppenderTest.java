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

import io.github.flinkagents.subagent.protocol.ErrorCode;
import io.github.flinkagents.subagent.python.TaskFailure;
import io.github.flinkagents.subagent.store.JournalRecord;
import io.github.flinkagents.subagent.store.StoreException;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Records on their way to the store, and acknowledgements on their way back. */
class JournalAppenderTest {
    private final HeldStore store = new HeldStore();
    private final TaskFailure failure = new TaskFailure();
    private int wakes;
    private final JournalAppender journal = new JournalAppender(store, failure, () -> wakes++);

    /** What one entry call appends is one batch [S1.2]. */
    @Test
    void flush_handsOverOneBatch() {
        journal.append(1, journalRecord(1));
        journal.append(2, journalRecord(2));
        journal.flush();
        journal.flush();

        assertThat(store.batches).containsExactly(List.of(journalRecord(1), journalRecord(2)));
    }

    /** Nothing is acknowledged before the store says so, then in order and once [S1.1, S1.2]. */
    @Test
    void takeAcknowledged_followsTheStore() {
        journal.append(1, journalRecord(1));
        journal.append(2, journalRecord(2));
        journal.flush();
        journal.append(3, journalRecord(3));
        journal.flush();
        assertThat(acknowledged()).isEmpty();

        store.futures.get(0).complete(null);
        store.futures.get(1).complete(null);

        assertThat(wakes).isEqualTo(2);
        assertThat(acknowledged()).containsExactly(1L, 2L, 3L);
        assertThat(acknowledged()).isEmpty();
    }

    /** A record that is not accepted fails the task and is never acknowledged [S1.1]. */
    @Test
    void failedAppend_failsTheTask() {
        StoreException rejected = new StoreException(ErrorCode.STORE_UNAVAILABLE, "disk full");
        journal.append(1, journalRecord(1));
        journal.flush();

        store.futures.get(0).completeExceptionally(rejected);

        assertThat(acknowledged()).isEmpty();
        assertThat(wakes).isEqualTo(1);
        assertThatThrownBy(failure::rethrow).isSameAs(rejected);
    }

    /** A blocking append comes behind what was appended before it [E3.16, S1.2]. */
    @Test
    void commit_comesBehindPendingRecords() throws Exception {
        store.completesAtOnce = true;
        journal.append(1, journalRecord(1));

        journal.commit(journalRecord(2));

        assertThat(store.batches).containsExactly(List.of(journalRecord(1)), List.of(journalRecord(2)));
        assertThat(acknowledged()).containsExactly(1L);
    }

    /** A blocking append that fails throws the store's own exception [E3.16]. */
    @Test
    void commit_failing_throwsTheStoresException() {
        store.failsWith = new StoreException(ErrorCode.STORE_FENCED, "another attempt owns the key groups");

        assertThatThrownBy(() -> journal.commit(journalRecord(1))).isSameAs(store.failsWith);
    }

    private List<Long> acknowledged() {
        ByteBuffer packed = ByteBuffer.wrap(journal.takeAcknowledged());
        List<Long> seqs = new ArrayList<>();
        while (packed.hasRemaining()) {
            seqs.add(packed.getLong());
        }
        return seqs;
    }

    private static JournalRecord journalRecord(int number) {
        return new JournalRecord(0, new byte[] {'k'}, 1, number, new byte[] {(byte) number});
    }
}
