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

import io.github.flinkagents.subagent.protocol.KeyBytes;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Keys that Java takes itself. */
class KeySourceTest {
    private static final byte[] NOTHING = new byte[0];

    /** A field of a JSON object is the key, by its own type [P7]. */
    @ParameterizedTest
    @MethodSource("jsonKeys")
    void jsonField_isTakenByType(String json, byte[] expected) throws Exception {
        assertThat(KeySource.jsonField("id").keyOf(json, json.getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(expected);
    }

    static Stream<Arguments> jsonKeys() {
        return Stream.of(
                Arguments.of("{\"id\": \"é|\", \"x\": 1}", KeyBytes.ofString("é|")),
                Arguments.of("{\"id\": -7}", KeyBytes.ofLong(-7)),
                Arguments.of("{\"id\": true}", KeyBytes.ofBoolean(true)));
    }

    /** A field that cannot be a key is named with its problem and the remedy [P7]. */
    @ParameterizedTest
    @MethodSource("unusable")
    void jsonField_unusable_isRefused(String json, String problem) {
        assertThatThrownBy(() -> KeySource.jsonField("id").keyOf(json, json.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("`id` " + problem)
                .hasMessageContaining("key selector");
    }

    static Stream<Arguments> unusable() {
        return Stream.of(
                Arguments.of("{}", "is null or missing"),
                Arguments.of("{\"id\": null}", "is null or missing"),
                Arguments.of("{\"id\": 1.5}", "is a "),
                Arguments.of("{\"id\": {}}", "is a "),
                Arguments.of("no json", "cannot be read"));
    }

    /** A field of a row is found by name [P7]. */
    @Test
    void rowField_isFoundByName() throws Exception {
        Row row = Row.withNames();
        row.setField("id", 12);

        assertThat(KeySource.rowField("id").keyOf(row, NOTHING)).isEqualTo(KeyBytes.ofLong(12));
    }

    /** A field that a row does not have is named with those that it has [P7]. */
    @Test
    void rowField_missing_namesTheFields() {
        Row row = Row.withNames();
        row.setField("other", 12);

        assertThatThrownBy(() -> KeySource.rowField("id").keyOf(row, NOTHING)).hasMessageContaining("fields [other]");
    }

    /** The first field of a keyed row is the key [P7]. */
    @Test
    void firstField_isTheKey() throws Exception {
        assertThat(KeySource.firstField().keyOf(Row.of(new byte[] {1, 2}, "value"), NOTHING))
                .isEqualTo(KeyBytes.ofBytes(new byte[] {1, 2}));
    }
}
