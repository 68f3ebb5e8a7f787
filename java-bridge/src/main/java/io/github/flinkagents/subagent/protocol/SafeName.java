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

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Turns any text into a file name that means nothing to a file system: lower-case letters, digits, {@code -} and {@code _}
 * stand for themselves, every other byte of the UTF-8 form is {@code %xx}. Different texts have different names, also where
 * case does not count. A name that would be too long ends in a digest of the whole text, after a {@code ~} that no other
 * name holds.
 */
public final class SafeName {
    private static final int MAX_LENGTH = 120;
    private static final int KEPT_LENGTH = 48;
    private static final HexFormat HEX = HexFormat.of();

    private SafeName() {}

    /** Returns the file name that stands for a text. */
    public static String encode(String text) {
        // Unlike getBytes, the key codec tells halves of surrogate pairs apart; its tag means nothing here.
        byte[] key = KeyBytes.ofString(text);
        byte[] utf8 = Arrays.copyOfRange(key, 1, key.length);
        StringBuilder name = new StringBuilder(utf8.length);
        for (byte b : utf8) {
            if (isPlain(b)) {
                name.append((char) b);
            } else {
                name.append('%').append(HEX.toHexDigits(b));
            }
        }
        if (name.length() > MAX_LENGTH) {
            return name.substring(0, KEPT_LENGTH) + "~" + sha256(utf8);
        }
        return name.isEmpty() ? "~" : name.toString();
    }

    private static boolean isPlain(byte b) {
        return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '-' || b == '_';
    }

    private static String sha256(byte[] bytes) {
        try {
            return HEX.formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java runtime has SHA-256", e);
        }
    }
}
