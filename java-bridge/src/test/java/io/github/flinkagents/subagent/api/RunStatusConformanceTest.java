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
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.util.Arrays;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** The states of runs, as the shared vectors say. */
class RunStatusConformanceTest {
    static Stream<Vectors.Case> states() throws IOException {
        return Vectors.of("run-status");
    }

    /** Which states are an end, and after which a submit is sent again [M2, T12]. */
    @ParameterizedTest
    @MethodSource("states")
    void state_meansTheSame(Vectors.Case vector) {
        JsonNode expected = vector.expect();
        JsonNode run = vector.given().get("run");
        RunStatus status = RunStatus.of(
                        RunStatus.State.valueOf(vector.given().get("state").asText()))
                .ofRun(run.isNull() ? null : run.asText());

        assertThat(status.state().isTerminal())
                .isEqualTo(expected.get("is_terminal").asBoolean())
                .isEqualTo(!expected.get("outcome").isNull());
        assertThat(status.isKnown()).isNotEqualTo(expected.get("is_sent_again").asBoolean());
    }

    /** No state exists on this side alone, and none on the other [M2, T12]. */
    @Test
    void states_areThoseOfPython() throws IOException {
        assertThat(Arrays.stream(RunStatus.State.values()).map(Enum::name))
                .containsExactlyElementsOf(
                        states().map(vector -> vector.given().get("state").asText())
                                .distinct()
                                .toList());
    }
}
