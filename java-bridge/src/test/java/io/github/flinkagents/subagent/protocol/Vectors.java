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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Reads the data cases that both languages share; an unknown field is an error. */
public final class Vectors {
    private static final Path FOLDER = Path.of("..", "tests", "vectors");

    private Vectors() {}

    /** One case; {@code toString} is what a test report shows. */
    public record Case(String id, String title, JsonNode given, JsonNode expect) {
        @Override
        public String toString() {
            return id + " " + title;
        }
    }

    public static Stream<Case> of(String kind) throws IOException {
        List<Case> cases = new ArrayList<>();
        try (Stream<Path> files = Files.list(FOLDER.resolve(kind))) {
            for (Path file : files.sorted().toList()) {
                JsonNode content = new ObjectMapper().readTree(file.toFile());
                assertThat(fields(content)).as("fields of %s", file).isEqualTo(Set.of("contract", "cases"));
                content.get("cases").forEach(node -> cases.add(read(file, node)));
            }
        }
        assertThat(cases).as("vectors of %s", kind).isNotEmpty();
        return cases.stream();
    }

    private static Case read(Path file, JsonNode node) {
        assertThat(fields(node)).as("fields of a case of %s", file).isEqualTo(Set.of("id", "title", "given", "expect"));
        return new Case(node.get("id").asText(), node.get("title").asText(), node.get("given"), node.get("expect"));
    }

    private static Set<String> fields(JsonNode node) {
        Set<String> names = new TreeSet<>();
        node.fieldNames().forEachRemaining(names::add);
        return names;
    }
}
