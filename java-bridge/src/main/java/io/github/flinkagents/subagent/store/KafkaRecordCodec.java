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

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * Writes and reads the records of the topic. Each carries one header, {@code fas}, which says what it is and holds its
 * envelope; the Kafka key is the canonical key and the value the payload, both as they are. A checksum over all three tells
 * whole records from damaged ones.
 */
final class KafkaRecordCodec {
    static final String HEADER = "fas";

    private static final byte VERSION = 1;
    private static final byte CLAIM = 'F';
    private static final byte JOURNAL = 'J';
    private static final byte RELEASE = 'R';
    private static final int KIND_BYTES = 2;
    private static final int CRC_BYTES = Integer.BYTES;
    private static final int WRITER_BYTES = 2 * Long.BYTES;
    private static final int JOURNAL_BYTES = KIND_BYTES
            + KafkaLineage.DIGEST_BYTES
            + WRITER_BYTES
            + Long.BYTES
            + Integer.BYTES
            + Long.BYTES
            + Integer.BYTES
            + CRC_BYTES;
    private static final int RELEASE_BYTES = KIND_BYTES + KafkaLineage.DIGEST_BYTES + 2 * Long.BYTES + CRC_BYTES;
    private static final byte[] NOTHING = new byte[0];

    private KafkaRecordCodec() {}

    /** Where a record goes to: the topic, the partition, and the time in milliseconds that it carries. */
    record Address(String topic, int partition, long timestamp) {}

    static ProducerRecord<byte[], byte[]> encode(Address address, KafkaEntry entry) {
        if (entry instanceof KafkaEntry.Claim claim) {
            byte[] header = {VERSION, CLAIM};
            return record(address, header, null, claim.fence().encode());
        }
        if (entry instanceof KafkaEntry.Journal journal) {
            JournalRecord record = journal.record();
            return record(address, header(journal), record.key(), record.payload());
        }
        if (entry instanceof KafkaEntry.Release release) {
            ByteBuffer header = ByteBuffer.allocate(RELEASE_BYTES).put(VERSION).put(RELEASE);
            header.put(release.lineage().duplicate()).putLong(release.before()).putLong(release.oldestCheckpoint());
            return record(address, stamped(header, NOTHING, NOTHING), null, NOTHING);
        }
        throw new IllegalArgumentException("Not to be written: " + entry);
    }

    static KafkaEntry decode(ConsumerRecord<byte[], byte[]> record) {
        Header header = record.headers().lastHeader(HEADER);
        if (header == null || header.value() == null || header.value().length < KIND_BYTES) {
            return new KafkaEntry.Unreadable("no record of this store");
        }
        byte[] key = orNothing(record.key());
        byte[] value = orNothing(record.value());
        ByteBuffer bytes = ByteBuffer.wrap(header.value());
        byte version = bytes.get();
        if (version != VERSION) {
            return new KafkaEntry.Unreadable("format version " + version + "; this release reads " + VERSION);
        }
        return switch (bytes.get()) {
            case CLAIM ->
                KafkaFence.decode(value)
                        .<KafkaEntry>map(KafkaEntry.Claim::new)
                        .orElseGet(() -> new KafkaEntry.Unreadable("damaged fence"));
            case JOURNAL ->
                isWhole(header.value(), JOURNAL_BYTES, key, value)
                        ? journal(bytes, key, value)
                        : new KafkaEntry.Unreadable("checksum mismatch");
            case RELEASE ->
                isWhole(header.value(), RELEASE_BYTES, key, value)
                        ? new KafkaEntry.Release(lineage(bytes), bytes.getLong(), bytes.getLong())
                        : new KafkaEntry.Unreadable("checksum mismatch");
            default -> new KafkaEntry.Unreadable("unknown kind of record");
        };
    }

    private static byte[] header(KafkaEntry.Journal journal) {
        ByteBuffer header = ByteBuffer.allocate(JOURNAL_BYTES).put(VERSION).put(JOURNAL);
        header.put(journal.lineage().duplicate());
        header.putLong(journal.writerId().getMostSignificantBits());
        header.putLong(journal.writerId().getLeastSignificantBits());
        header.putLong(journal.sequence());
        JournalRecord record = journal.record();
        header.putInt(record.keyGroup()).putLong(record.runNumber()).putInt(record.recordNumber());
        return stamped(header, record.key(), record.payload());
    }

    private static KafkaEntry journal(ByteBuffer bytes, byte[] key, byte[] value) {
        ByteBuffer lineage = lineage(bytes);
        UUID writer = new UUID(bytes.getLong(), bytes.getLong());
        long sequence = bytes.getLong();
        int keyGroup = bytes.getInt();
        long run = bytes.getLong();
        int number = bytes.getInt();
        if (keyGroup < 0 || run < 1 || number < 1) {
            return new KafkaEntry.Unreadable("impossible numbers");
        }
        return new KafkaEntry.Journal(lineage, writer, sequence, new JournalRecord(keyGroup, key, run, number, value));
    }

    private static ByteBuffer lineage(ByteBuffer bytes) {
        byte[] digest = new byte[KafkaLineage.DIGEST_BYTES];
        bytes.get(digest);
        return ByteBuffer.wrap(digest);
    }

    private static ProducerRecord<byte[], byte[]> record(
            Address address, byte[] header, byte @Nullable [] key, byte[] value) {
        return new ProducerRecord<>(
                address.topic(),
                address.partition(),
                address.timestamp(),
                key,
                value,
                List.of(new RecordHeader(HEADER, header)));
    }

    private static byte[] stamped(ByteBuffer header, byte[] key, byte[] value) {
        int end = header.position();
        return header.putInt(checksum(header.array(), end, key, value)).array();
    }

    private static boolean isWhole(byte[] header, int length, byte[] key, byte[] value) {
        int end = length - CRC_BYTES;
        return header.length == length && ByteBuffer.wrap(header).getInt(end) == checksum(header, end, key, value);
    }

    private static int checksum(byte[] header, int end, byte[] key, byte[] value) {
        CRC32C crc = new CRC32C();
        crc.update(header, 0, end);
        crc.update(key);
        crc.update(value);
        return (int) crc.getValue();
    }

    private static byte[] orNothing(byte @Nullable [] bytes) {
        return bytes == null ? NOTHING : bytes;
    }
}
