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
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import static io.github.flinkagents.subagent.store.StoreAttempt.opening;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;

/** Writers that share a partition: each acknowledges its records although others stand between them, and finds fences among these [S1.5, S2.2]. */
class KafkaNeighbourITCase {
    private static final StoreOpening.Restored FRESH = StoreOpening.Restored.NONE;
    /** With 4 partitions, partition 1 holds key groups 32 to 63: these two share it. */
    private static final KeyGroups LEFT = new KeyGroups(0, 40);

    private static final KeyGroups RIGHT = new KeyGroups(41, 127);

    private final TopicTools tools = new TopicTools(TestBroker.shared());
    private final Map<String, Object> options =
            KafkaTesting.options(TestBroker.shared().address());
    private final List<StoreAttempt> attempts = new ArrayList<>();

    @AfterEach
    void close() {
        attempts.forEach(StoreAttempt::close);
        tools.close();
    }

    /** Records that alternate with a neighbour's are all acknowledged and all found [S1.3, S1.5]. */
    @Test
    void alternatingWriters_areBothAcknowledged() throws StoreException {
        StoreAttempt left = open(LEFT, FRESH);
        StoreAttempt right = open(RIGHT, FRESH);
        List<JournalRecord> ofLeft = new ArrayList<>();
        List<JournalRecord> ofRight = new ArrayList<>();
        List<CompletableFuture<Void>> appends = new ArrayList<>();
        for (int number = 1; number <= 300; number++) {
            ofLeft.add(record(40, 1, number));
            ofRight.add(record(41, 1, number));
            appends.add(left.append(ofLeft.get(number - 1)));
            appends.add(right.append(ofRight.get(number - 1)));
        }
        CompletableFuture.allOf(appends.toArray(CompletableFuture[]::new)).join();

        assertThat(open(LEFT, FRESH).tail()).isEqualTo(ofLeft);
        assertThat(open(RIGHT, FRESH).tail()).isEqualTo(ofRight);
    }

    /** A fence among a neighbour's records is found; the record behind it is not acknowledged [S1.5]. */
    @Test
    void fenceAmongNeighboursRecords_isFound() throws StoreException {
        StoreAttempt zombie = open(LEFT, FRESH);
        StoreAttempt right = open(RIGHT, FRESH);
        List<JournalRecord> recorded = zombie.record(record(40, 1, 1));
        right.record(record(41, 1, 1));
        StoreAttempt successor = open(LEFT, FRESH);
        right.record(record(41, 1, 2));

        StoreException failure = StoreTesting.failureOf(zombie.append(record(40, 1, 2, "zombie")));

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_FENCED);
        assertThat(failure.retryable()).isFalse();
        assertThat(successor.tail()).isEqualTo(recorded);
        right.record(record(41, 1, 3));
    }

    /** What a zombie wrote before anybody asked stays invisible, also to those who open later [S1.5]. */
    @Test
    void zombiesRecords_areNeverSeen() throws StoreException {
        StoreAttempt zombie = open(LEFT, FRESH);
        StoreOpening.Restored checkpoint = zombie.checkpoint();
        StoreAttempt successor = open(LEFT, checkpoint);
        StoreTesting.failureOf(zombie.append(record(40, 1, 1, "zombie"), record(40, 2, 1, "zombie")));
        List<JournalRecord> recorded = successor.record(record(40, 1, 1), record(40, 1, 2));

        assertThat(open(LEFT, checkpoint).tail()).isEqualTo(recorded);
    }

    /** Somebody else's record in between is passed over [S1.4, S1.5]. */
    @Test
    void foreignRecordInBetween_fencesNobody() throws StoreException {
        StoreAttempt left = open(LEFT, FRESH);
        left.record(record(40, 1, 1));
        tools.write(new ProducerRecord<>(KafkaTesting.topic(options), 1, new byte[0], new byte[] {1, 2, 3}));

        left.record(record(40, 1, 2));
    }

    private StoreAttempt open(KeyGroups keyGroups, StoreOpening.Restored restored) throws StoreException {
        StoreAttempt attempt = StoreAttempt.open(KafkaTesting.store(options), opening("sub", keyGroups, restored));
        attempts.add(attempt);
        return attempt;
    }
}
