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
import java.math.BigInteger;
import java.nio.ByteBuffer;
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
     * Encodes a text key: its UTF-8 form, where half a surrogate pair, which a Python text may hold too, keeps its three-byte
     * form.
     */
    @OnAnyThread
    public static byte[] ofString(String key) {
        if (key.chars().noneMatch(c -> Character.isSurrogate((char) c))) {
            return tagged('s', key.getBytes(StandardCharsets.UTF_8));
        }
        ByteArrayOutputStream utf8 = new ByteArrayOutputStream(key.length() + 16);
        key.codePoints().forEach(codePoint -> {
            if (Character.MIN_SURROGATE <= codePoint && codePoint <= Character.MAX_SURROGATE) {
                utf8.write(0xE0 | codePoint >> 12);
                utf8.write(0x80 | codePoint >> 6 & 0x3F);
                utf8.write(0x80 | codePoint & 0x3F);
            } else {
                utf8.writeBytes(Character.toString(codePoint).getBytes(StandardCharsets.UTF_8));
            }
        });
        return tagged('s', utf8.toByteArray());
    }

    /** Encodes an integer key: its decimal digits. */
    @OnAnyThread
    public static byte[] ofLong(long key) {
        return ofInteger(BigInteger.valueOf(key));
    }

    /** Encodes an integer key of any size: its decimal digits. */
    @OnAnyThread
    public static byte[] ofInteger(BigInteger key) {
        return tagged('i', key.toString().getBytes(StandardCharsets.US_ASCII));
    }

    /** Encodes a bytes key. */
    @OnAnyThread
    public static byte[] ofBytes(byte[] key) {
        return tagged('b', key);
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

    private static byte[] tagged(char tag, byte[] value) {
        return ByteBuffer.allocate(1 + value.length).put((byte) tag).put(value).array();
    }
}
