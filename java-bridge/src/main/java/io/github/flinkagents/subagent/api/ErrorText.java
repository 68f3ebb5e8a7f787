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
package io.github.flinkagents.subagent.api;

import java.nio.charset.StandardCharsets;

/**
 * The text that is kept of an error: class and message, at most 4 KiB of UTF-8, never half a character, a cut shown by an
 * ellipsis. The same as on the Python side, which shared vectors pin.
 */
final class ErrorText {
    static final int MAX_BYTES = 4096;
    private static final String MARK = "\u2026";
    private static final int MARK_BYTES = 3;

    private ErrorText() {}

    /** The text of an exception. */
    static String of(String type, String message) {
        return capped(message == null || message.isEmpty() ? type : type + ": " + message);
    }

    /** The text itself, or as much of it as may be kept. A half of a surrogate pair is shown by its number. */
    static String capped(String text) {
        String whole = text.codePoints().anyMatch(ErrorText::isHalf) ? escaped(text) : text;
        if (whole.getBytes(StandardCharsets.UTF_8).length <= MAX_BYTES) {
            return whole;
        }
        int bytes = 0;
        int end = 0;
        while (end < whole.length()) {
            int character = whole.codePointAt(end);
            bytes += utf8Length(character);
            if (bytes > MAX_BYTES - MARK_BYTES) {
                break;
            }
            end += Character.charCount(character);
        }
        return whole.substring(0, end) + MARK;
    }

    private static String escaped(String text) {
        StringBuilder shown = new StringBuilder();
        text.codePoints().forEach(character -> {
            if (isHalf(character)) {
                shown.append(String.format("\\u%04x", character));
            } else {
                shown.appendCodePoint(character);
            }
        });
        return shown.toString();
    }

    private static boolean isHalf(int character) {
        return character >= Character.MIN_SURROGATE && character <= Character.MAX_SURROGATE;
    }

    private static int utf8Length(int character) {
        if (character < 0x80) {
            return 1;
        }
        if (character < 0x800) {
            return 2;
        }
        return character < 0x10000 ? 3 : 4;
    }
}
