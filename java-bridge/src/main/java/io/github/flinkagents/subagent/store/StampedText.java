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

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * Lines of text that end in their own checksum, so that a file that was written in part is told from a whole one, and that a
 * person can read what the store knows about itself.
 */
final class StampedText {
    private static final String CHECKSUM = "crc32c ";

    private StampedText() {}

    static byte[] encode(List<String> lines) {
        String text = String.join("\n", lines) + "\n";
        return (text + CHECKSUM + checksum(text) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the lines without the checksum, or nothing when it is missing or wrong. */
    static Optional<List<String>> decode(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        int end = text.lastIndexOf(CHECKSUM);
        if (end < 1 || !text.substring(end).equals(CHECKSUM + checksum(text.substring(0, end)) + "\n")) {
            return Optional.empty();
        }
        return Optional.of(
                new ArrayList<>(Arrays.asList(text.substring(0, end - 1).split("\n", -1))));
    }

    private static String checksum(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return String.format("%08x", crc.getValue());
    }
}
