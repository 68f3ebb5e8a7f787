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

package io.github.flinkagents.subagent.protocol;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Canonical key bytes, the one form in which a key crosses the bridge and is stored: a tag byte and the value. Equal keys
 * have equal bytes and different keys different ones, whatever separators they hold. Flink's own key is the text of the
 * same bytes, one char per byte; both directions are exact.
 *
 * <p>Thread: any.
 */
public final class KeyBytes {
    private KeyBytes() {}

    /**
     * Encodes a text key.
     *
     * @throws IllegalArgumentException when the text holds half a surrogate pair, which UTF-8 cannot carry
     */
    @OnAnyThread
    public static byte[] ofString(String key) {
        CharsetEncoder encoder = StandardCharsets.UTF_8
                .newEncoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        try {
            ByteBuffer encoded = encoder.encode(CharBuffer.wrap(key));
            return tagged('s', encoded.array(), encoded.remaining());
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(
                    "A key holds half a surrogate pair and has no UTF-8 form; clean the text or use bytes as the key", e);
        }
    }

    /** Encodes an integer key: its decimal digits. */
    @OnAnyThread
    public static byte[] ofLong(long key) {
        byte[] digits = Long.toString(key).getBytes(StandardCharsets.US_ASCII);
        return tagged('i', digits, digits.length);
    }

    /** Encodes a bytes key. */
    @OnAnyThread
    public static byte[] ofBytes(byte[] key) {
        return tagged('b', key, key.length);
    }

    /** Encodes a boolean key. */
    @OnAnyThread
    public static byte[] ofBoolean(boolean key) {
        return new byte[] {'?', (byte) (key ? '1' : '0')};
    }

    /** Returns Flink's key of canonical key bytes. */
    @OnAnyThread
    public static String toFlinkKey(byte[] keyBytes) {
        return new String(keyBytes, StandardCharsets.ISO_8859_1);
    }

    /**
     * Returns the canonical key bytes of Flink's key.
     *
     * @throws IllegalArgumentException when the text is not one made by {@link #toFlinkKey}
     */
    @OnAnyThread
    public static byte[] fromFlinkKey(String flinkKey) {
        byte[] bytes = flinkKey.getBytes(StandardCharsets.ISO_8859_1);
        if (!toFlinkKey(bytes).equals(flinkKey)) {
            throw new IllegalArgumentException("'" + flinkKey + "' is no canonical key: it holds a char above U+00FF."
                    + " Key the stream with the key operator of this package");
        }
        return bytes;
    }

    private static byte[] tagged(char tag, byte[] value, int length) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(length + 1);
        out.write(tag);
        out.write(value, 0, length);
        return out.toByteArray();
    }
}
