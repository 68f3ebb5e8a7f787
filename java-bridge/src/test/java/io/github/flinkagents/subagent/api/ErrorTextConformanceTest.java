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

import io.github.flinkagents.subagent.protocol.Vectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** The text of errors, as the shared vectors say. */
class ErrorTextConformanceTest {
    static Stream<Vectors.Case> texts() throws IOException {
        return Vectors.of("error-texts");
    }

    /** Class and message, at most 4 KiB, cut in the same place in both languages [V2, B5, T12]. */
    @ParameterizedTest
    @MethodSource("texts")
    void text_isKeptAlike(Vectors.Case vector) {
        String message = vector.given()
                .get("message")
                .asText()
                .repeat(vector.given().get("times").asInt());
        String expected = vector.expect().get("start").asText()
                + vector.expect()
                        .get("repeated")
                        .asText()
                        .repeat(vector.expect().get("times").asInt())
                + vector.expect().get("end").asText();

        String text = vector.given().get("type").isNull()
                ? SubagentResult.error(message).errorMessage()
                : ErrorText.of(vector.given().get("type").asText(), message);

        assertThat(text).isEqualTo(expected);
    }
}
