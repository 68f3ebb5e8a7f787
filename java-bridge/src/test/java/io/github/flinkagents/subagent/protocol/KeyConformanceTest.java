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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.math.BigInteger;
import java.util.HexFormat;
import java.util.Map;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** The key codec and the key groups, against the vectors that the Python half reads too. */
class KeyConformanceTest {
    private static final HexFormat HEX = HexFormat.of();

    static Stream<Vectors.Case> keys() throws IOException {
        return Vectors.of("keys");
    }

    /** Tuples are made by Python key selectors only; Java reads their bytes and never makes them. */
    static Stream<Vectors.Case> keysMadeInJava() throws IOException {
        return keys().filter(vector -> !vector.given().has("tuple"));
    }

    /** A key that Java makes has the bytes that Python gives it [P7, S1.7]. */
    @ParameterizedTest
    @MethodSource("keysMadeInJava")
    void key_hasItsPinnedBytes(Vectors.Case vector) {
        byte[] bytes = encode(vector.given());

        assertThat(HEX.formatHex(bytes)).isEqualTo(vector.expect().get("bytes").asText());
    }

    /** Flink's key of any key bytes leads back to them, and to the pinned key group [E4.7, S1.7]. */
    @ParameterizedTest
    @MethodSource("keys")
    void keyBytes_haveTheirPinnedKeyGroups(Vectors.Case vector) {
        byte[] bytes = HEX.parseHex(vector.expect().get("bytes").asText());

        assertThat(KeyBytes.fromFlinkKey(KeyBytes.toFlinkKey(bytes))).isEqualTo(bytes);
        Map.of("128", 128, "32768", 32768)
                .forEach((name, maxParallelism) -> assertThat(KeyGroups.of(bytes, maxParallelism))
                        .isEqualTo(vector.expect().get("key_groups").get(name).asInt()));
    }

    private static byte[] encode(JsonNode given) {
        if (given.isTextual()) {
            return KeyBytes.ofString(given.asText());
        }
        if (given.isBoolean()) {
            return KeyBytes.ofBoolean(given.asBoolean());
        }
        if (given.has("bytes")) {
            return KeyBytes.ofBytes(HEX.parseHex(given.get("bytes").asText()));
        }
        return KeyBytes.ofInteger(new BigInteger(given.get("int").asText()));
    }
}
