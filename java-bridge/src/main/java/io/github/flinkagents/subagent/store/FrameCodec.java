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
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * A record as a frame: {@code u32 length · u32 CRC-32C · body}, the body being version, key group, run number, record number,
 * key length, key, payload. Integers are big-endian.
 */
final class FrameCodec {
    /** Bytes of a frame beside key and payload. */
    static final int OVERHEAD = 8 + 21;

    private static final int HEADER = 8;
    private static final int FIXED_BODY = OVERHEAD - HEADER;
    private static final byte VERSION = 1;

    private FrameCodec() {}

    /** The length of a record's frame. */
    static long length(JournalRecord record) {
        return (long) OVERHEAD + record.key().length + record.payload().length;
    }

    /** Encodes all of a frame but key and payload, which follow it in this order. */
    static byte[] prefix(JournalRecord record) {
        ByteBuffer prefix = ByteBuffer.allocate(OVERHEAD);
        prefix.putInt(Math.toIntExact(length(record) - HEADER)).putInt(0);
        prefix.put(VERSION)
                .putInt(record.keyGroup())
                .putLong(record.runNumber())
                .putInt(record.recordNumber());
        prefix.putInt(record.key().length);
        CRC32C crc = new CRC32C();
        crc.update(prefix.array(), HEADER, FIXED_BODY);
        crc.update(record.key());
        crc.update(record.payload());
        return prefix.putInt(4, (int) crc.getValue()).array();
    }

    /**
     * Reads the frame that starts at an index.
     *
     * @return the record, or null when no whole and undamaged frame of this format and of these key groups starts there
     */
    static @Nullable JournalRecord read(ByteBuffer bytes, int index, KeyGroups keyGroups) {
        int length = plausibleLength(bytes, index, keyGroups);
        if (length < 0) {
            return null;
        }
        int body = index + HEADER;
        CRC32C crc = new CRC32C();
        crc.update(bytes.slice(body, length));
        if ((int) crc.getValue() != bytes.getInt(index + 4)) {
            return null;
        }
        byte[] key = new byte[bytes.getInt(body + 17)];
        byte[] payload = new byte[length - FIXED_BODY - key.length];
        bytes.get(body + FIXED_BODY, key).get(body + FIXED_BODY + key.length, payload);
        return new JournalRecord(
                bytes.getInt(body + 1), key, bytes.getLong(body + 5), bytes.getInt(body + 13), payload);
    }

    /** The body's length when the fixed fields fit together, else −1; cheap enough to be tried at every byte. */
    private static int plausibleLength(ByteBuffer bytes, int index, KeyGroups keyGroups) {
        int available = bytes.limit() - index - HEADER;
        if (available < FIXED_BODY) {
            return -1;
        }
        int length = bytes.getInt(index);
        boolean isWhole = FIXED_BODY <= length && length <= available;
        return isWhole && isPlausible(bytes, index + HEADER, length, keyGroups) ? length : -1;
    }

    private static boolean isPlausible(ByteBuffer bytes, int body, int length, KeyGroups keyGroups) {
        int keyLength = bytes.getInt(body + 17);
        return bytes.get(body) == VERSION
                && keyGroups.contains(bytes.getInt(body + 1))
                && bytes.getLong(body + 5) >= 1
                && bytes.getInt(body + 13) >= 1
                && keyLength >= 0
                && keyLength <= length - FIXED_BODY;
    }
}
