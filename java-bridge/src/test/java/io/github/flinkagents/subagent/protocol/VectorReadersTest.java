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

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** No vector that is for Java stays unread. */
class VectorReadersTest {
    private static final Path READERS = Path.of("..", "tests", "vectors", "readers.json");
    private static final Pattern READ = Pattern.compile("Vectors\\.of\\(\"([a-z-]+)\"\\)");

    /** The tests read each folder of vectors that is listed for Java, and no other [T12]. */
    @Test
    void vectors_areReadAsListed() throws IOException {
        Set<String> listed = new TreeSet<>();
        new ObjectMapper().readTree(READERS.toFile()).properties().forEach(folder -> {
            for (JsonNode reader : folder.getValue()) {
                if ("java".equals(reader.asText())) {
                    listed.add(folder.getKey());
                }
            }
        });

        Set<String> read;
        try (Stream<Path> files = Files.walk(Path.of("src", "test", "java"))) {
            read = files.filter(file -> file.toString().endsWith(".java"))
                    .flatMap(VectorReadersTest::kindsRead)
                    .collect(Collectors.toCollection(TreeSet::new));
        }

        assertThat(read).isEqualTo(listed);
    }

    private static Stream<String> kindsRead(Path file) {
        try {
            return READ.matcher(Files.readString(file)).results().map(match -> match.group(1));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
