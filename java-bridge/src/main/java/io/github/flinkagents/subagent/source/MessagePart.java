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
package io.github.flinkagents.subagent.source;

import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** How the bytes of a message's key or value are read; the names are those of the Python types. */
enum MessagePart {
    /** UTF-8, as Kafka's string serializer writes it. */
    STR(Types.STRING, "no UTF-8") {
        @Override
        @Nullable
        Object read(byte[] bytes) {
            try {
                // A decoder of its own is strict; that of String puts a sign in the place of what it cannot read.
                return StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(bytes))
                        .toString();
            } catch (CharacterCodingException unreadable) {
                return null;
            }
        }
    },

    /** The bytes as they are. */
    BYTES(PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO, "no bytes") {
        @Override
        Object read(byte[] bytes) {
            return bytes;
        }
    },

    /** Four or eight bytes, as Kafka's serializers for whole numbers write them. */
    INT(Types.LONG, "no whole number of 4 or 8 bytes") {
        @Override
        @Nullable
        Object read(byte[] bytes) {
            return switch (bytes.length) {
                case Integer.BYTES -> (long) ByteBuffer.wrap(bytes).getInt();
                case Long.BYTES -> ByteBuffer.wrap(bytes).getLong();
                default -> null;
            };
        }
    };

    private final TypeInformation<?> type;
    private final String problem;

    MessagePart(TypeInformation<?> type, String problem) {
        this.type = type;
        this.problem = problem;
    }

    /** Returns what the bytes stand for; null when that is nothing, and {@link #problem} says what they are then. */
    abstract @Nullable Object read(byte[] bytes);

    /** The type of what {@link #read} returns. */
    TypeInformation<?> type() {
        return type;
    }

    /** What bytes are that cannot be read. */
    String problem() {
        return problem;
    }
}
