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

import io.github.flinkagents.subagent.protocol.KeyBytes;
import io.github.flinkagents.subagent.protocol.KeyGroups;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What every store owes its operator, as far as one process can show it. A new store is a new subclass. */
abstract class ActionStateStoreContract extends TakeOverContract {
    /** What was acknowledged is there for the next attempt of the same submission, in order [S1.1, E5.1]. */
    @Test
    void acknowledgedRecords_surviveTheAttempt() throws StoreException {
        StoreAttempt first = open("sub", ALL, FRESH);
        List<JournalRecord> recorded = first.record(record(5, 1, 1), record(9, 1, 1), record(5, 1, 2));

        assertThat(open("sub", ALL, FRESH).tail()).isEqualTo(survivors(recorded));
    }

    /** A payload of any size comes back as it was [S1.1]. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 262_143, 300_000, 9 * 1024 * 1024})
    void payload_comesBackWhole(int size) throws StoreException {
        byte[] payload = new byte[size];
        IntStream.range(0, size).forEach(i -> payload[i] = (byte) (i * 31));
        StoreAttempt first = open("sub", ALL, FRESH);
        List<JournalRecord> recorded =
                first.record(new JournalRecord(1, new byte[] {1}, 1, 1, payload), record(1, 1, 1));

        assertThat(open("sub", ALL, FRESH).tail()).isEqualTo(survivors(recorded));
    }

    /** Batches are acknowledged in the order in which they were appended [S1.2]. */
    @Test
    void acknowledgements_comeInOrder() throws StoreException {
        StoreAttempt attempt = open("sub", ALL, FRESH);
        List<Integer> acknowledged = Collections.synchronizedList(new ArrayList<>());

        List<CompletableFuture<Void>> appends = IntStream.rangeClosed(1, 500)
                .mapToObj(number -> attempt.append(record(3, 1, number)).thenRun(() -> acknowledged.add(number)))
                .toList();
        CompletableFuture.allOf(appends.toArray(CompletableFuture[]::new)).join();

        assertThat(acknowledged).isEqualTo(IntStream.rangeClosed(1, 500).boxed().toList());
    }

    /** A batch without records is acknowledged too [S1.2]. */
    @Test
    void emptyBatch_isAcknowledged() throws StoreException {
        assertThat(open("sub", ALL, FRESH).append()).succeedsWithin(StoreTesting.DEADLINE);
    }

    /** A restore reads what was appended behind the checkpoint, and nothing before it [S1.3, E4.2]. */
    @Test
    void restore_readsOnlyWhatIsBehindThePosition() throws StoreException {
        StoreAttempt first = open("sub", ALL, FRESH);
        first.record(record(5, 1, 1));
        StoreOpening.Restored checkpoint = first.checkpoint();
        List<JournalRecord> behind = first.record(record(5, 1, 2), record(6, 1, 1));

        assertThat(open("sub", ALL, checkpoint).tail()).isEqualTo(survivors(behind));
    }

    /** A record that waits for its acknowledgement at the snapshot lies before the position [S1.3, E4.1]. */
    @Test
    void position_countsWhatIsNotAcknowledgedYet() throws StoreException {
        StoreAttempt first = open("sub", ALL, FRESH);
        CompletableFuture<Void> waiting = first.append(record(5, 1, 1));
        StoreOpening.Restored checkpoint = first.checkpoint();
        waiting.join();

        assertThat(open("sub", ALL, checkpoint).tail()).isEmpty();
    }

    /** Keys of any bytes are told apart [S1.7]. */
    @Test
    void keys_areArbitraryBytes() throws StoreException {
        List<byte[]> keys = List.of(
                new byte[0],
                new byte[] {0},
                new byte[] {(byte) 0xff, (byte) 0xfe, '/', '_', '\n'},
                KeyBytes.ofString("ключ_1|2"),
                KeyBytes.ofString(""),
                KeyBytes.ofLong(-1),
                new byte[70_000]);
        StoreAttempt first = open("sub", ALL, FRESH);
        List<JournalRecord> recorded = first.record(keys.stream()
                .map(key -> new JournalRecord(KeyGroups.of(key, 128), key, 1, 1, key))
                .toArray(JournalRecord[]::new));

        assertThat(open("sub", ALL, FRESH).tail()).isEqualTo(survivors(recorded));
    }

    /** A record of a key group that was not opened is refused, naming it. */
    @Test
    void recordOfAnotherKeyGroup_isRefused() throws StoreException {
        StoreAttempt attempt = open("sub", LOWER, FRESH);

        assertThatThrownBy(() -> attempt.append(record(64, 1, 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("64");
    }

    /** Positions are given for exactly the opened key groups [E4.3]. */
    @Test
    void positions_areThoseOfTheOpenedKeyGroups() throws StoreException {
        assertThat(open("sub", UPPER, FRESH).store().positions(1).keySet())
                .containsExactlyInAnyOrderElementsOf(UPPER.stream().boxed().toList());
    }

    /** The records behind the oldest retained checkpoint stay when older ones are released [S1.8]. */
    @Test
    void release_keepsWhatRetainedCheckpointsNeed() throws StoreException {
        StoreAttempt first = open("sub", ALL, FRESH);
        first.record(record(5, 1, 1));
        StoreOpening.Restored retained = first.checkpoint();
        List<JournalRecord> behind = new ArrayList<>(first.record(record(5, 1, 2)));
        first.store().release(2, retained.positions());
        behind.addAll(first.record(record(5, 1, 3)));

        assertThat(open("sub", ALL, retained).tail()).isEqualTo(survivors(behind));
    }

    /** After close nothing is recorded any more, and close may be called again [S1.1]. */
    @Test
    void closedStore_failsEveryAppend() throws StoreException {
        StoreAttempt attempt = open("sub", ALL, FRESH);
        attempt.close();
        attempt.close();

        assertThat(attempt.append(record(5, 1, 1)))
                .failsWithin(StoreTesting.DEADLINE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(StoreException.class);
    }

    /** A store that was never opened can be closed. */
    @Test
    void unopenedStore_canBeClosed() {
        newStore().close();
    }
}
