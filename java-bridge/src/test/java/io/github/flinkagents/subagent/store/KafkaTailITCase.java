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
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.opening;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Reading the tail: to the end whatever polls say, past what cannot be read, and only of the topic that it was [S1.3, S1.4, S1.6]. */
class KafkaTailITCase {
    private static final StoreOpening.Restored FRESH = StoreOpening.Restored.NONE;

    private final TestBroker broker = TestBroker.shared();
    private final TopicTools tools = new TopicTools(broker);
    private final Map<String, Object> options = KafkaTesting.options(broker.address());
    private final String topic = KafkaTesting.topic(options);

    @AfterEach
    void close() {
        tools.close();
    }

    /** Polls that return nothing, because the broker takes its time, are no end [S1.3, E4.3]. */
    @Test
    void emptyPolls_areNoEnd() throws StoreException {
        List<JournalRecord> recorded = new ArrayList<>();
        try (StoreAttempt attempt = open(options, FRESH)) {
            recorded.addAll(attempt.record(record(5, 1, 1), record(100, 1, 1)));
            recorded.addAll(attempt.record(record(5, 1, 2), record(100, 1, 2)));
        }
        // The broker holds each answer back for longer than several polls wait.
        Map<String, Object> slow =
                KafkaTesting.with(options, "fetch.min.bytes", "50000000", "fetch.max.wait.ms", "700");

        assertThat(tail(slow, FRESH)).isEqualTo(recorded);
    }

    /** A tail that is fetched in many small parts is complete and in order [S1.3]. */
    @Test
    void manySmallFetches_giveTheWholeTail() throws StoreException {
        List<JournalRecord> recorded;
        try (StoreAttempt attempt = open(options, FRESH)) {
            recorded = attempt.record(IntStream.range(0, 2_000)
                    .mapToObj(i -> record(i % 128, 1, 1 + i / 128, "payload " + i))
                    .toArray(JournalRecord[]::new));
        }
        Map<String, Object> small =
                KafkaTesting.with(options, "max.partition.fetch.bytes", "1000", "max.poll.records", "7");

        assertThat(tail(small, FRESH)).isEqualTo(recorded);
    }

    static List<ProducerRecord<byte[], byte[]>> foreignRecords() {
        return List.of(
                foreign(null, "somebody else's"),
                foreign(new byte[] {}, "empty header"),
                foreign(new byte[] {9, 'J'}, "of a later release"),
                foreign(new byte[] {1, 'X'}, "unknown kind"),
                foreign(new byte[] {1, 'J', 0, 0}, "torn"),
                foreign(new byte[] {1, 'F'}, "no fence"),
                foreign(new byte[60], "zeros"),
                new ProducerRecord<>("topic", 0, null, null));
    }

    /** A record of somebody else, or a torn one, fails the restore with its address [S1.4]. */
    @ParameterizedTest
    @MethodSource("foreignRecords")
    void foreignRecord_isNamed(ProducerRecord<byte[], byte[]> foreign) throws StoreException {
        try (StoreAttempt attempt = open(options, FRESH)) {
            attempt.record(record(5, 1, 1));
        }
        long offset = tools.write(onTopic(foreign));

        StoreException failure = catchThrowableOfType(StoreException.class, () -> tail(options, FRESH));

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_CORRUPT);
        assertThat(failure)
                .hasMessageContaining(topic + "-0, offset " + offset)
                .hasMessageContaining("store.on-corrupt");
    }

    /** With store.on-corrupt: skip such records are counted, and everything else is read [S1.4]. */
    @Test
    void foreignRecords_areSkippedWhenAsked() throws StoreException {
        List<JournalRecord> recorded = new ArrayList<>();
        try (StoreAttempt attempt = open(options, FRESH)) {
            recorded.addAll(attempt.record(record(5, 1, 1)));
            foreignRecords().forEach(foreign -> tools.write(onTopic(foreign)));
            recorded.addAll(attempt.record(record(5, 1, 2)));
        }
        options.put("store.on-corrupt", "skip");

        try (StoreAttempt restored = open(options, FRESH)) {
            assertThat(restored.tail()).isEqualTo(recorded);
            assertThat(restored.wholeTail().setAside())
                    .isEqualTo(foreignRecords().size());
        }
    }

    /** A batch that was damaged on the broker's disk is set aside with its address, and what comes before and after it is read [S1.4]. */
    @Test
    void damagedBatch_isSetAside() throws Exception {
        Map<String, Object> plain = KafkaTesting.with(options, "compression.type", "none");
        List<JournalRecord> others = new ArrayList<>();
        try (StoreAttempt attempt = open(plain, FRESH)) {
            others.addAll(attempt.record(record(5, 1, 1)));
            attempt.record(record(5, 2, 1, "the payload to be damaged"));
            others.addAll(attempt.record(record(5, 3, 1)));
        }
        broker.damage(topic, 0, "the payload to be damaged");

        StoreException failure = catchThrowableOfType(StoreException.class, () -> tail(plain, FRESH));
        plain.put("store.on-corrupt", "skip");

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_CORRUPT);
        assertThat(failure).hasMessageContaining(topic + "-0, offset 2");
        try (StoreAttempt restored = open(plain, FRESH)) {
            assertThat(restored.tail()).isEqualTo(others);
            assertThat(restored.wholeTail().setAside()).isEqualTo(1);
        }
    }

    /** Two jobs and two operators on one topic see nothing of each other, and do not fence each other [S1.5, S1.6, S2.5]. */
    @Test
    void jobsOnOneTopic_areApart() throws StoreException {
        options.put("store.kafka.topic", "shared-" + topic);
        List<StoreOpening> openings = List.of(
                new StoreOpening("job", "agent-x", "sub", ALL, 128, FRESH),
                new StoreOpening("job", "agent-y", "sub", ALL, 128, FRESH),
                new StoreOpening("other", "agent-x", "sub", ALL, 128, FRESH));
        List<List<JournalRecord>> recorded = new ArrayList<>();
        List<StoreAttempt> attempts = new ArrayList<>();
        for (StoreOpening opening : openings) {
            attempts.add(StoreAttempt.open(KafkaTesting.store(options), opening));
            recorded.add(new ArrayList<>());
        }
        for (int number = 1; number <= 20; number++) {
            for (int job = 0; job < attempts.size(); job++) {
                recorded.get(job).addAll(attempts.get(job).record(record(5, 1, number, "of " + job)));
            }
        }
        attempts.forEach(StoreAttempt::close);

        for (int job = 0; job < openings.size(); job++) {
            try (StoreAttempt again = StoreAttempt.open(KafkaTesting.store(options), openings.get(job))) {
                assertThat(again.tail()).isEqualTo(recorded.get(job));
            }
        }
    }

    /** A topic that was made again is not the one of the checkpoint; the loss can be accepted [S1.8]. */
    @Test
    void topicMadeAgain_isALoss() throws StoreException {
        StoreOpening.Restored checkpoint;
        try (StoreAttempt attempt = open(options, FRESH)) {
            checkpoint = attempt.checkpoint();
        }
        tools.delete(topic);
        TopicTools.await("the topic is gone", () -> !tools.exists(topic));

        StoreException failure = catchThrowableOfType(StoreException.class, () -> tail(options, checkpoint));
        options.put("store.allow-lost-tail", true);

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_LOST);
        assertThat(failure).hasMessageContaining("made again since").hasMessageContaining("store.allow-lost-tail");
        assertThat(tail(options, checkpoint)).isEmpty();
    }

    /** Partitions that were added move key groups, which is refused for a restore and for a fresh start [S2.2]. */
    @Test
    void addedPartitions_areRefused() throws StoreException {
        StoreOpening.Restored checkpoint;
        try (StoreAttempt attempt = open(options, FRESH)) {
            checkpoint = attempt.checkpoint();
        }
        tools.growTo(topic, KafkaTesting.PARTITIONS + 1);

        assertThat(catchThrowableOfType(StoreException.class, () -> tail(options, checkpoint)))
                .hasMessageContaining("had 4 partitions at the checkpoint and has 5");
        assertThat(catchThrowableOfType(StoreException.class, () -> tail(options, FRESH)))
                .hasMessageContaining("has 5 partitions")
                .hasMessageContaining("when it had 4");
    }

    private static ProducerRecord<byte[], byte[]> foreign(byte[] header, String value) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>("topic", 0, new byte[] {1}, value.getBytes());
        if (header != null) {
            record.headers().add(new RecordHeader("fas", header));
        }
        return record;
    }

    private ProducerRecord<byte[], byte[]> onTopic(ProducerRecord<byte[], byte[]> record) {
        return new ProducerRecord<>(topic, 0, record.key(), record.value(), record.headers());
    }

    private static List<JournalRecord> tail(Map<String, Object> options, StoreOpening.Restored restored)
            throws StoreException {
        try (StoreAttempt attempt = open(options, restored)) {
            return attempt.tail();
        }
    }

    private static StoreAttempt open(Map<String, Object> options, StoreOpening.Restored restored)
            throws StoreException {
        return StoreAttempt.open(KafkaTesting.store(options), opening("sub", ALL, restored));
    }
}
