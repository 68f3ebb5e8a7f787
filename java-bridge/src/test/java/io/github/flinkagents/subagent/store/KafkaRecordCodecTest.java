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

import io.github.flinkagents.subagent.protocol.KeyGroups;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

import static org.assertj.core.api.Assertions.assertThat;

/** The records of the topic: they come back as they were, or as unreadable [S1.4, S1.7, S2.4]. */
class KafkaRecordCodecTest {
    private static final UUID WRITER = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");
    private static final KafkaLineage LINEAGE = new KafkaLineage("job", "agent-x", "sub");
    private static final ByteBuffer DIGEST = ByteBuffer.wrap(LINEAGE.digest());
    private static final KafkaRecordCodec.Address ADDRESS = new KafkaRecordCodec.Address("topic", 3, 1000);

    static List<KafkaEntry> entries() {
        byte[] oddKey = {0, (byte) 0xff, '_', '|', '\n'};
        return List.of(
                new KafkaEntry.Claim(new KafkaFence(LINEAGE, WRITER, "sub", new KeyGroups(3, 127), 32)),
                new KafkaEntry.Claim(new KafkaFence(
                        new KafkaLineage("", "job\nwriter x", "а b"), WRITER, "sub 2", new KeyGroups(0, 0), 1)),
                new KafkaEntry.Journal(
                        DIGEST, WRITER, Long.MAX_VALUE, new JournalRecord(32767, oddKey, 1L << 40, 9, new byte[] {1, 2
                        })),
                new KafkaEntry.Journal(DIGEST, WRITER, 0, new JournalRecord(0, new byte[0], 1, 1, new byte[0])),
                new KafkaEntry.Release(DIGEST, 123_456_789_012L, 77));
    }

    /** Every kind of record comes back as it was, whatever is in keys and names [S1.7]. */
    @ParameterizedTest
    @MethodSource("entries")
    void entry_comesBack(KafkaEntry entry) {
        assertThat(KafkaRecordCodec.decode(read(KafkaRecordCodec.encode(ADDRESS, entry))))
                .isEqualTo(entry);
    }

    /** A record in which a single byte was changed is never taken for another one [S1.4]. */
    @ParameterizedTest
    @MethodSource("entries")
    void changedByte_isNoticed(KafkaEntry entry) {
        ProducerRecord<byte[], byte[]> written = KafkaRecordCodec.encode(ADDRESS, entry);
        byte[] header = written.headers().lastHeader(KafkaRecordCodec.HEADER).value();
        byte[] value = written.value();
        for (byte[] part : List.of(header, value)) {
            for (int i = 0; i < part.length; i++) {
                part[i] ^= 1;
                assertThat(KafkaRecordCodec.decode(read(written))).isInstanceOf(KafkaEntry.Unreadable.class);
                part[i] ^= 1;
            }
        }
    }

    /** A key of one record does not fit the header of another [S1.4]. */
    @Test
    void exchangedKey_isNoticed() {
        ProducerRecord<byte[], byte[]> written =
                KafkaRecordCodec.encode(ADDRESS, entries().get(2));
        ProducerRecord<byte[], byte[]> exchanged =
                new ProducerRecord<>("topic", 3, 1000L, new byte[] {7}, written.value(), written.headers());

        assertThat(KafkaRecordCodec.decode(read(exchanged))).isInstanceOf(KafkaEntry.Unreadable.class);
    }

    /** Beside key and payload a record carries less than the 300 bytes that it may [S2.4]. */
    @Test
    void envelope_isSmall() {
        Header header =
                KafkaRecordCodec.encode(ADDRESS, entries().get(2)).headers().lastHeader(KafkaRecordCodec.HEADER);

        assertThat(header.value().length).isEqualTo(62);
    }

    /** Different starts, jobs and operators have different lineages, however their names are cut [S1.6]. */
    @Test
    void lineages_areDifferent() {
        assertThat(List.of(
                        hex("job", "agent-x", "sub"),
                        hex("joba", "gent-x", "sub"),
                        hex("job", "agent-xs", "ub"),
                        hex("job", "agent-x", "sub-2"),
                        hex("", "jobagent-x", "sub")))
                .doesNotHaveDuplicates();
    }

    private static String hex(String job, String operator, String origin) {
        return java.util.HexFormat.of().formatHex(new KafkaLineage(job, operator, origin).digest());
    }

    private static ConsumerRecord<byte[], byte[]> read(ProducerRecord<byte[], byte[]> written) {
        return new ConsumerRecord<>(
                written.topic(),
                written.partition(),
                17,
                written.timestamp(),
                TimestampType.CREATE_TIME,
                0,
                0,
                written.key(),
                written.value(),
                written.headers(),
                Optional.empty());
    }
}
