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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.util.Arrays;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** The error codes, against the vectors that the Python half reads too. */
class ErrorCodeConformanceTest {
    static Stream<Vectors.Case> codes() throws IOException {
        return Vectors.of("error-codes");
    }

    /** Each code of Python's error tree is known here, with the same retry flag [P6]. */
    @ParameterizedTest
    @MethodSource("codes")
    void code_isKnownWithItsRetryFlag(Vectors.Case vector) {
        String code = vector.expect().get("code").asText();
        boolean retryable = vector.expect().get("retryable").asBoolean();

        assertThat(ErrorCode.of(code))
                .hasValueSatisfying(known -> assertThat(known.retryable()).isEqualTo(retryable));
    }

    /** No code exists on this side alone [P6]. */
    @Test
    void codes_areThoseOfPython() throws IOException {
        assertThat(Arrays.stream(ErrorCode.values()).map(ErrorCode::code))
                .containsExactlyInAnyOrderElementsOf(
                        codes().map(vector -> vector.expect().get("code").asText())
                                .toList());
    }
}
