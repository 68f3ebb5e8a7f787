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

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * A place in the log of a key group's partition.
 *
 * <p>The offset is a lower bound: everything that the writer appended after the position was taken lies behind it. What it
 * had appended before may lie behind it too, when it was not acknowledged yet; its sequence tells.
 *
 * @param checkpoint the checkpoint that the position was taken for
 * @param partitions how many partitions the topic had
 * @param offset where to read from
 * @param writerId whose the key group was there
 * @param sequence of the first record that the writer appended behind the position
 * @param origin as {@link KafkaLineage#origin}
 */
record KafkaPosition(long checkpoint, int partitions, long offset, UUID writerId, long sequence, String origin) {
    private static final byte VERSION = 'K';
    private static final int FIXED = 1 + 5 * Long.BYTES + Integer.BYTES;

    StorePosition encode() {
        byte[] text = origin.getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(FIXED + text.length).put(VERSION);
        bytes.putLong(checkpoint).putInt(partitions).putLong(offset);
        bytes.putLong(writerId.getMostSignificantBits()).putLong(writerId.getLeastSignificantBits());
        return StorePosition.of(bytes.putLong(sequence).put(text).array());
    }

    static KafkaPosition decode(StorePosition position) throws StoreException {
        ByteBuffer bytes = ByteBuffer.wrap(position.bytes());
        if (bytes.remaining() < FIXED || bytes.get() != VERSION) {
            throw new StoreException(
                    ErrorCode.UNKNOWN_VERSION,
                    "The checkpoint holds the store position '" + position
                            + "', which is none of the Kafka store in the"
                            + " format of this release. Restore with the release that wrote the checkpoint");
        }
        return new KafkaPosition(
                bytes.getLong(),
                bytes.getInt(),
                bytes.getLong(),
                new UUID(bytes.getLong(), bytes.getLong()),
                bytes.getLong(),
                StandardCharsets.UTF_8.decode(bytes).toString());
    }
}
