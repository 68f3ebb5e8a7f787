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
package io.github.flinkagents.subagent.operator;

import io.github.flinkagents.subagent.protocol.OnAnyThread;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Several byte strings as one, as they cross the border: {@code u32 count, (u32 length) × count, bytes}. */
@OnAnyThread
final class Blobs {
    private Blobs() {}

    /** Packs byte strings. */
    static byte[] pack(List<byte[]> parts) {
        int size = Integer.BYTES * (1 + parts.size());
        for (byte[] part : parts) {
            size = Math.addExact(size, part.length);
        }
        ByteBuffer packed = ByteBuffer.allocate(size).putInt(parts.size());
        for (byte[] part : parts) {
            packed.putInt(part.length);
        }
        for (byte[] part : parts) {
            packed.put(part);
        }
        return packed.array();
    }

    /** Takes packed byte strings apart. */
    static List<byte[]> unpack(byte[] packed) {
        ByteBuffer lengths = ByteBuffer.wrap(packed);
        int count = lengths.getInt();
        ByteBuffer bytes = ByteBuffer.wrap(packed).position(Integer.BYTES * (1 + count));
        List<byte[]> parts = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            byte[] part = new byte[lengths.getInt()];
            bytes.get(part);
            parts.add(part);
        }
        return parts;
    }
}
