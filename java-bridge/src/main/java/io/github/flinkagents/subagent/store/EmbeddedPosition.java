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

/**
 * A place in the embedded store. Places of one origin are ordered by fence, then by offset.
 *
 * @param fence whose writer's log
 * @param offset in that log, counting every frame handed to the writer, written or not yet
 * @param origin as {@link Fence#origin}
 */
record EmbeddedPosition(long fence, long offset, String origin) {
    private static final byte VERSION = 1;
    private static final int FIXED = 1 + 8 + 8;

    StorePosition encode() {
        byte[] text = origin.getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(FIXED + text.length);
        bytes.put(VERSION).putLong(fence).putLong(offset).put(text);
        return StorePosition.of(bytes.array());
    }

    static EmbeddedPosition decode(StorePosition position) throws StoreException {
        ByteBuffer bytes = ByteBuffer.wrap(position.bytes());
        if (bytes.remaining() < FIXED || bytes.get() != VERSION) {
            throw new StoreException(
                    ErrorCode.UNKNOWN_VERSION,
                    "The checkpoint holds the store position '" + position + "', which is none of the embedded store in"
                            + " format " + VERSION + ". Restore with the release that wrote the checkpoint");
        }
        long fence = bytes.getLong();
        long offset = bytes.getLong();
        return new EmbeddedPosition(
                fence, offset, StandardCharsets.UTF_8.decode(bytes).toString());
    }
}
