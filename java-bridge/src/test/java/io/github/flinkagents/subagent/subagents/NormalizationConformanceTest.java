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
package io.github.flinkagents.subagent.subagents;

import io.github.flinkagents.subagent.protocol.Vectors;
import io.github.flinkagents.subagent.subagents.Samples.Kind;
import io.github.flinkagents.subagent.subagents.Samples.Part;
import io.github.flinkagents.subagent.subagents.Samples.Tier;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What JSON can express, as the shared vectors say. */
class NormalizationConformanceTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** What the vectors leave open, because the classes have other names here. */
    private static final Map<String, String> NAMES =
            Map.of("<bytes>", "byte[]", "<decimal>", "BigDecimal", "<date>", "LocalDate", "<set>", "Set12");

    static Stream<Vectors.Case> values() throws IOException {
        return Vectors.of("normalization");
    }

    /** The same values and places as in Python, with objects of the vectors made as records [T9, T12, B4]. */
    @ParameterizedTest
    @MethodSource("values")
    void value_ofRecordsIsExpressedOrRefusedWithItsPlace(Vectors.Case vector) throws Exception {
        check(vector, offer -> offer);
    }

    /** The same with beans [T9, T12, B4]. */
    @ParameterizedTest
    @MethodSource("values")
    void value_ofBeansIsExpressedOrRefusedWithItsPlace(Vectors.Case vector) throws Exception {
        check(vector, offer -> new Bean.Offer(offer));
    }

    private static void check(Vectors.Case vector, Kind kind) throws Exception {
        Object value = Samples.make(vector.given(), kind);

        if (!vector.expect().has("error")) {
            Object expected = Samples.make(vector.expect().get("value"), kind);
            assertThat(tree(normalized(value))).isEqualTo(tree(expected));
            return;
        }
        String message = vector.expect().get("error").asText();
        for (Map.Entry<String, String> name : NAMES.entrySet()) {
            message = message.replace(name.getKey(), name.getValue());
        }
        assertThatThrownBy(() -> normalized(value))
                .isInstanceOf(NotExpressibleException.class)
                .hasMessage(message)
                .hasMessageStartingWith(vector.expect().get("path").asText());
    }

    /** As a tree, because getters come in any order. */
    private static JsonNode tree(@Nullable Object value) {
        return JSON.valueToTree(value);
    }

    private static @Nullable Object normalized(@Nullable Object value) throws NotExpressibleException {
        return Normalization.normalize(new Rendering().render(value, false, "result"), "result");
    }

    /** Holds a bean of the same simple name as the record. */
    static final class Bean {
        private Bean() {}

        /** The same fields behind getters. */
        public static final class Offer {
            private final Samples.Offer offer;

            Offer(Samples.Offer offer) {
                this.offer = offer;
            }

            public @Nullable String getItem() {
                return offer.item();
            }

            public BigDecimal getAmount() {
                return offer.amount();
            }

            public @Nullable Object getWeight() {
                return offer.weight();
            }

            public LocalDate getDay() {
                return offer.day();
            }

            public Tier getTier() {
                return offer.tier();
            }

            public List<Part> getParts() {
                return offer.parts();
            }

            public @Nullable Object getExtra() {
                return offer.extra();
            }
        }
    }
}
