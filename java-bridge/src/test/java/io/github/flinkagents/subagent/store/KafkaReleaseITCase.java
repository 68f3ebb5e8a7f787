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
import io.github.flinkagents.subagent.protocol.KeyGroups;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.opening;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Deleting what no retained checkpoint needs, and telling that from a loss [S1.8, S2.5]. */
class KafkaReleaseITCase {
    private static final StoreOpening.Restored FRESH = StoreOpening.Restored.NONE;
    /** With 4 partitions, partition 1 holds key groups 32 to 63: these two share it. */
    private static final KeyGroups LEFT = new KeyGroups(0, 40);

    private static final KeyGroups RIGHT = new KeyGroups(41, 127);

    private final TestBroker broker = TestBroker.shared();
    private final TopicTools tools = new TopicTools(broker);
    private final Map<String, Object> options = KafkaTesting.options(broker.address());
    private final String topic = KafkaTesting.topic(options);
    private final List<StoreAttempt> attempts = new ArrayList<>();

    @AfterEach
    void close() {
        attempts.forEach(StoreAttempt::close);
        tools.close();
    }

    /** What lies before the checkpoint older than the oldest to be kept goes; nothing else does [S1.8, S2.5]. */
    @Test
    void release_deletesWhatIsBeforeThePreviousCheckpoint() throws StoreException {
        StoreAttempt attempt = open(ALL, FRESH);
        attempt.record(record(5, 1, 1), record(5, 1, 2));
        StoreOpening.Restored first = attempt.checkpoint(1);
        List<JournalRecord> behindFirst = new ArrayList<>(attempt.record(record(5, 1, 3)));
        attempt.store().release(1, first.positions());
        StoreOpening.Restored second = attempt.checkpoint(2);
        List<JournalRecord> behindSecond = attempt.record(record(5, 1, 4));
        attempt.store().release(2, second.positions());

        awaitBegin(0, 3);

        attempt.close();
        behindFirst.addAll(behindSecond);
        assertThat(open(ALL, second).tail()).isEqualTo(behindSecond);
        assertThat(open(ALL, first).tail()).isEqualTo(behindFirst);
        assertThat(tools.begin(topic, 0)).isEqualTo(3);
        assertThat(tools.begin(topic, 1)).isZero();
    }

    /** The topic does not grow beyond what lies between some checkpoints [S1.8, S2.5]. */
    @Test
    void topic_isBoundedByTheTail() throws StoreException {
        StoreAttempt attempt = open(ALL, FRESH);
        RetainedCheckpoints checkpoints = new RetainedCheckpoints(2, Map.of());
        for (int checkpoint = 1; checkpoint <= 8; checkpoint++) {
            for (int i = 0; i < 50; i++) {
                attempt.append(record(5, checkpoint, i + 1));
            }
            attempt.record(record(5, checkpoint, 51));
            checkpoints.snapshotTaken(checkpoint, attempt.store().positions(checkpoint));
            int completed = checkpoint;
            checkpoints
                    .checkpointCompleted(checkpoint)
                    .ifPresent(oldest -> attempt.store().release(completed, oldest));
        }

        // At checkpoint 8 the oldest to be kept is 7; what lies before 6 is gone.
        awaitBegin(0, 1 + 6 * 51);
        assertThat(tools.end(topic, 0) - tools.begin(topic, 0)).isLessThan(3 * 51 + 10);
    }

    /** A subtask that writes nothing into a partition can be restored although its neighbour has released beyond its position [S2.5, E4.7]. */
    @Test
    void idleNeighbour_losesNothing() throws StoreException {
        StoreAttempt left = open(LEFT, FRESH);
        StoreAttempt right = open(RIGHT, FRESH);
        left.record(record(40, 1, 1), record(40, 1, 2), record(40, 1, 3));
        left.store().release(1, StoreAttempt.checkpoint(1, left, right).positions());
        StoreOpening.Restored second = StoreAttempt.checkpoint(2, left, right);
        left.store().release(2, second.positions());
        awaitBegin(1, 4);

        assertThat(open(RIGHT, second).tail()).isEmpty();
    }

    /** The neighbour's records behind the barrier of a checkpoint that is kept stay [S1.8, S2.5]. */
    @Test
    void neighboursRecordsBehindTheBarrier_stay() throws StoreException {
        StoreAttempt left = open(LEFT, FRESH);
        StoreAttempt right = open(RIGHT, FRESH);
        left.record(record(40, 1, 1));
        left.store().release(1, StoreAttempt.checkpoint(1, left, right).positions());
        // The barrier of checkpoint 2 reaches the right one first.
        StoreOpening.Restored ofRight = right.checkpoint(2);
        List<JournalRecord> behind = right.record(record(41, 1, 1));
        left.record(record(40, 1, 2));
        StoreOpening.Restored second = left.checkpoint(2);
        left.store().release(2, second.positions());
        awaitBegin(1, 3);

        assertThat(open(RIGHT, ofRight).tail()).isEqualTo(behind);
    }

    /** A checkpoint older than those that are kept is a loss, unless that is accepted [S1.8]. */
    @Test
    void restoreOfAnOldCheckpoint_isALoss() throws StoreException {
        StoreAttempt attempt = open(ALL, FRESH);
        StoreOpening.Restored old = attempt.checkpoint(1);
        attempt.record(record(5, 1, 1), record(5, 1, 2));
        attempt.store().release(2, attempt.checkpoint(2).positions());
        attempt.record(record(5, 1, 3));
        attempt.store().release(3, attempt.checkpoint(3).positions());
        awaitBegin(0, 3);

        StoreException failure = catchThrowableOfType(StoreException.class, () -> open(ALL, old));
        options.put("store.allow-lost-tail", true);

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_LOST);
        assertThat(failure).hasMessageContaining(topic + "-0").hasMessageContaining("store.retained-checkpoints");
        assertThat(open(ALL, old).tail()).containsExactly(record(5, 1, 3));
    }

    /** A log that somebody else cut is a loss, and one that begins at the position is none [S1.8]. */
    @Test
    void logCutByOthers_isALossBehindThePositionOnly() throws StoreException {
        StoreAttempt attempt = open(ALL, FRESH);
        attempt.record(record(5, 1, 1));
        StoreOpening.Restored checkpoint = attempt.checkpoint(1);
        List<JournalRecord> behind = attempt.record(record(5, 1, 2), record(5, 1, 3));
        attempt.close();

        tools.deleteBefore(topic, 0, 2);
        assertThat(open(ALL, checkpoint).tail()).isEqualTo(behind);
        tools.deleteBefore(topic, 0, 3);
        assertThat(catchThrowableOfType(StoreException.class, () -> open(ALL, checkpoint))
                        .code())
                .isEqualTo(ErrorCode.STORE_LOST);
    }

    /** A submission that begins anew after it has released records for checkpoints fails instead of repeating calls silently [S1.8, E5.1]. */
    @Test
    void freshStartAfterARelease_isALoss() throws StoreException {
        StoreAttempt attempt = open(ALL, FRESH);
        attempt.record(record(5, 1, 1), record(5, 1, 2));
        attempt.store().release(1, attempt.checkpoint(1).positions());
        attempt.record(record(5, 1, 3));
        attempt.store().release(2, attempt.checkpoint(2).positions());
        awaitBegin(0, 3);

        assertThat(catchThrowableOfType(StoreException.class, () -> open(ALL, FRESH))
                        .code())
                .isEqualTo(ErrorCode.STORE_LOST);
        assertThat(StoreAttempt.open(KafkaTesting.store(options), opening("another", ALL, FRESH))
                        .tail())
                .isEmpty();
    }

    /** A writer whose successor's fence has been deleted already still finds out that it was replaced [S1.5, S2.5]. */
    @Test
    void zombieBehindAReleasedFence_isFenced() throws StoreException {
        StoreAttempt zombie = open(ALL, FRESH);
        zombie.record(record(5, 1, 1));
        open(ALL, FRESH).record(record(5, 1, 2), record(5, 1, 3));
        tools.deleteBefore(topic, 0, 4);

        assertThat(StoreTesting.failureOf(zombie.append(record(5, 1, 2))).code())
                .isEqualTo(ErrorCode.STORE_FENCED);
    }

    /** A replaced writer deletes nothing any more [S1.5, S2.5]. */
    @Test
    void zombie_releasesNothing() throws StoreException {
        StoreAttempt zombie = open(ALL, FRESH);
        zombie.record(record(5, 1, 1), record(5, 1, 2));
        zombie.store().release(1, zombie.checkpoint(1).positions());
        StoreOpening.Restored second = zombie.checkpoint(2);
        open(ALL, FRESH);

        zombie.store().release(2, second.positions());

        assertThat(StoreTesting.failureOf(zombie.append(record(5, 1, 3))).code())
                .isEqualTo(ErrorCode.STORE_FENCED);
        assertThat(tools.begin(topic, 0)).isZero();
    }

    /** On a topic that may be shared nothing is deleted [S2.5]. */
    @Test
    void namedTopic_isNotReleased() throws StoreException {
        options.put("store.kafka.topic", topic);
        StoreAttempt attempt = open(ALL, FRESH);
        attempt.record(record(5, 1, 1), record(5, 1, 2));
        attempt.store().release(1, attempt.checkpoint(1).positions());
        attempt.store().release(2, attempt.checkpoint(2).positions());
        attempt.record(record(5, 1, 3));

        // Nothing was announced either: the three records follow the fence.
        assertThat(tools.end(topic, 0)).isEqualTo(4);
        assertThat(tools.begin(topic, 0)).isZero();
    }

    private void awaitBegin(int partition, long offset) {
        TopicTools.await(
                "the log of partition " + partition + " begins at " + offset,
                () -> tools.begin(topic, partition) >= offset);
    }

    private StoreAttempt open(KeyGroups keyGroups, StoreOpening.Restored restored) throws StoreException {
        StoreAttempt attempt = StoreAttempt.open(KafkaTesting.store(options), opening("sub", keyGroups, restored));
        attempts.add(attempt);
        return attempt;
    }
}
