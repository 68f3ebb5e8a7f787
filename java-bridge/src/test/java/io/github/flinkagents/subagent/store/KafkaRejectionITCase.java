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
import org.apache.kafka.common.acl.AclOperation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.opening;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static io.github.flinkagents.subagent.store.StoreTesting.failureOf;
import static org.assertj.core.api.Assertions.assertThat;

/** Each way in which a broker can refuse a record: nobody is told that it is recorded, and the error names the remedy [S1.1, S1.2, S2.3]. */
class KafkaRejectionITCase {
    private static final AclOperation[] RIGHTS = {
        AclOperation.CREATE,
        AclOperation.DESCRIBE,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.DELETE
    };

    private final TestBroker broker = TestBroker.shared();
    private final TopicTools tools = new TopicTools(broker);
    private final Map<String, Object> options = KafkaTesting.impatient(KafkaTesting.options(broker.address()));
    private final String topic = KafkaTesting.topic(options);

    @AfterEach
    void close() {
        tools.close();
    }

    /** A record larger than the topic takes fails its append and all later ones; those before it stay [S1.1, S1.2, E3.13]. */
    @Test
    void recordTooLargeForTheTopic_isNamed() throws StoreException {
        try (StoreAttempt attempt = open(options)) {
            List<JournalRecord> acknowledged = attempt.record(record(5, 1, 1));
            tools.set(topic, "max.message.bytes", "2000");

            StoreException failure =
                    failureOf(attempt.append(new JournalRecord(5, new byte[] {1}, 1, 2, incompressible(10_000))));

            assertThat(failure.code()).isEqualTo(ErrorCode.RECORD_TOO_LARGE);
            assertThat(failure)
                    .hasMessageContaining("max.message.bytes")
                    .hasMessageContaining("journal.max-record-bytes");
            assertThat(failure)
                    .hasMessageContaining("record 2 of run 1 in key group 5")
                    .hasMessageContaining(topic + "-0");
            assertThat(failureOf(attempt.append(record(5, 1, 3)))).isSameAs(failure);
            assertThat(readAgain()).isEqualTo(acknowledged);
        }
    }

    /** The topic that the store creates takes every record that the engine lets pass, however little it can be packed [E3.13, S2.1]. */
    @Test
    void createdTopic_takesTheLargestRecord() throws StoreException {
        int limit = (int) options.get("journal.max-record-bytes");
        try (StoreAttempt attempt = open(KafkaTesting.options(broker.address()))) {
            JournalRecord largest = new JournalRecord(5, new byte[1000], 1, 1, incompressible(limit));

            assertThat(attempt.append(largest)).succeedsWithin(StoreTesting.DEADLINE);
        }
    }

    /** Too few replicas in sync: the append fails when its time is over, and says what is missing [S1.1, S2.3]. */
    @Test
    void notEnoughReplicas_areNamed() throws StoreException {
        try (TestBroker first = TestBroker.start();
                TestBroker second = first.startSecond();
                TopicTools replicated = new TopicTools(first)) {
            Map<String, Object> two = KafkaTesting.with(
                    KafkaTesting.impatient(KafkaTesting.options(first.address())), "delivery.timeout.ms", "15000");
            two.put("store.kafka.replication-factor", 2);
            try (StoreAttempt attempt = open(two)) {
                replicated.set(KafkaTesting.topic(two), "min.insync.replicas", "2");
                attempt.record(record(5, 1, 1));
                second.kill();

                StoreException failure = failureOf(attempt.append(record(5, 1, 2)));

                assertThat(failure.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE);
                assertThat(failure.retryable()).isTrue();
                assertThat(failure).hasMessageContaining("1 replicas in sync, min.insync.replicas is 2");
                assertThat(failure).hasMessageContaining("record 2 of run 1 in key group 5");
            }
        }
    }

    /** A right that is withdrawn fails the next append, naming the rights that are needed [S1.1, S2.1]. */
    @Test
    void withdrawnRight_isNamed() throws StoreException {
        Map<String, Object> secured = KafkaTesting.impatient(KafkaTesting.secured(broker));
        String securedTopic = KafkaTesting.topic(secured);
        tools.allow(securedTopic, RIGHTS);
        try (StoreAttempt attempt = open(secured)) {
            attempt.record(record(5, 1, 1));
            tools.disallow(securedTopic, AclOperation.WRITE);

            StoreException failure = failureOf(attempt.append(record(5, 1, 2)));

            assertThat(failure.code()).isEqualTo(ErrorCode.STORE);
            assertThat(failure).hasMessageContaining(securedTopic).hasMessageContaining("Write");
        }
    }

    /** A topic that is deleted under a running job fails the next append and says so [S1.1]. */
    @Test
    void deletedTopic_isNamed() throws StoreException {
        try (StoreAttempt attempt = open(options)) {
            attempt.record(record(5, 1, 1));
            tools.delete(topic);

            StoreException failure = failureOf(attempt.append(record(5, 1, 2)));

            assertThat(failure.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE);
            assertThat(failure).hasMessageContaining("'" + topic + "' does not exist");
            assertThat(failure).hasMessageContaining("store.allow-lost-tail");
        }
    }

    /** A broker that dies fails what waits for it when its time is over, with the addresses; it never hangs [S1.1, S2.3]. */
    @Test
    void deadBroker_failsWhatWaits() throws StoreException {
        try (TestBroker mortal = TestBroker.start();
                StoreAttempt attempt = open(KafkaTesting.impatient(KafkaTesting.options(mortal.address())))) {
            attempt.record(record(5, 1, 1));
            mortal.kill();

            CompletableFuture<Void> first = attempt.append(record(5, 1, 2));
            CompletableFuture<Void> second = attempt.append(record(100, 1, 1));

            assertThat(failureOf(first).code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE);
            assertThat(failureOf(first))
                    .hasMessageContaining(mortal.address())
                    .hasMessageContaining("Check that the brokers run");
            assertThat(failureOf(second)).isSameAs(failureOf(first));
        }
    }

    /** A broker that is silent for a while delays acknowledgements, and nothing else; positions do not wait for it [S1.1, S2.3, E4.3]. */
    @Test
    void pausedBroker_delaysAcknowledgements() throws StoreException {
        try (TestBroker paused = TestBroker.start()) {
            Map<String, Object> patient = KafkaTesting.options(paused.address());
            List<JournalRecord> behind;
            StoreOpening.Restored checkpoint;
            try (StoreAttempt attempt = open(patient)) {
                attempt.record(record(5, 1, 1));
                paused.pause();
                CompletableFuture<Void> inFlight = attempt.append(record(5, 1, 2), record(100, 1, 1));
                checkpoint = attempt.checkpoint();
                behind = List.of(record(5, 1, 3), record(100, 1, 2));
                CompletableFuture<Void> later = attempt.append(behind.toArray(JournalRecord[]::new));
                assertThat(inFlight).isNotDone();
                paused.resume();

                assertThat(inFlight).succeedsWithin(StoreTesting.DEADLINE);
                assertThat(later).succeedsWithin(StoreTesting.DEADLINE);
            }

            try (StoreAttempt restored = open(patient, checkpoint)) {
                assertThat(restored.tail()).isEqualTo(behind);
            }
        }
    }

    private static byte[] incompressible(int size) {
        byte[] bytes = new byte[size];
        new Random(7).nextBytes(bytes);
        return bytes;
    }

    private List<JournalRecord> readAgain() throws StoreException {
        try (StoreAttempt attempt = open(options)) {
            return attempt.tail();
        }
    }

    private static StoreAttempt open(Map<String, Object> options) throws StoreException {
        return open(options, StoreOpening.Restored.NONE);
    }

    private static StoreAttempt open(Map<String, Object> options, StoreOpening.Restored restored)
            throws StoreException {
        return StoreAttempt.open(KafkaTesting.store(options), opening("sub", ALL, restored));
    }
}
