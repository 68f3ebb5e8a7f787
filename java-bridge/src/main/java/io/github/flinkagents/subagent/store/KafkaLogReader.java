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
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

import java.time.Duration;
import java.util.List;

/**
 * Reads ranges of a partition's log completely. A range has been read when the client's position has reached its end: an empty
 * poll says nothing, and offsets may be missing where transactions of others ended.
 *
 * <p>Thread: one at a time.
 */
final class KafkaLogReader {
    private static final Duration POLL = Duration.ofMillis(100);

    private final Consumer<byte[], byte[]> consumer;
    private final KafkaTopic topic;
    private final KafkaSettings settings;

    /** Takes what is read, in log order. */
    interface Sink {
        void record(ConsumerRecord<byte[], byte[]> record, KafkaEntry entry) throws StoreException;

        /** Takes an offset that the client cannot read. */
        void unreadable(long offset, String reason) throws StoreException;
    }

    KafkaLogReader(Consumer<byte[], byte[]> consumer, KafkaTopic topic, KafkaSettings settings) {
        this.consumer = consumer;
        this.topic = topic;
        this.settings = settings;
    }

    /**
     * Reads what lies in {@code [from, to)}; {@code to} is not beyond the log's end.
     *
     * @throws org.apache.kafka.clients.consumer.OffsetOutOfRangeException when the log does not begin at or before {@code from}
     * @throws StoreException when the brokers deliver nothing for {@code default.api.timeout.ms}
     */
    void read(int partition, long from, long to, Sink sink) throws StoreException {
        TopicPartition place = topic.at(partition);
        consumer.assign(List.of(place));
        consumer.seek(place, from);
        Deadline deadline = Deadline.afterMillis(settings.apiTimeoutMillis());
        for (long position = from; position < to; ) {
            readSome(place, to, sink);
            long reached = consumer.position(place);
            if (reached > position) {
                position = reached;
                deadline.restart();
            } else if (deadline.hasPassed()) {
                throw stuck(place, position, to);
            }
        }
    }

    private void readSome(TopicPartition place, long to, Sink sink) throws StoreException {
        try {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL).records(place)) {
                if (record.offset() < to) {
                    sink.record(record, KafkaRecordCodec.decode(record));
                }
            }
        } catch (KafkaException e) {
            // Its subclasses have meanings of their own; the class itself says that a record cannot be read.
            if (e.getClass() != KafkaException.class) {
                throw e;
            }
            long offset = consumer.position(place);
            sink.unreadable(offset, String.valueOf(e.getMessage()));
            consumer.seek(place, offset + 1);
        } catch (LinkageError e) {
            // Cannot be passed over: what the client had read of the fetch before it is lost with it.
            throw new StoreException(
                    ErrorCode.STORE_CORRUPT,
                    place + " holds, at or behind offset " + consumer.position(place)
                            + ", records packed with a library that this machine does not have. Write them with"
                            + " compression.type lz4 or gzip",
                    e);
        }
    }

    private StoreException stuck(TopicPartition place, long position, long to) {
        return new StoreException(
                ErrorCode.STORE_UNAVAILABLE,
                "The brokers at " + settings.bootstrapServers() + " delivered nothing of " + place + " from offset "
                        + position + " for " + settings.apiTimeoutMillis() + " ms, though the log goes on to " + to
                        + ". Look at the state of the partition; "
                        + KafkaSettings.PROPERTIES + "default.api.timeout.ms is how long to wait");
    }
}
