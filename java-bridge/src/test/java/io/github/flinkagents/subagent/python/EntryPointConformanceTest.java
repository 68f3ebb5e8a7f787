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
package io.github.flinkagents.subagent.python;

import io.github.flinkagents.subagent.protocol.Vectors;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/** The functions that Java calls, against the vectors that the Python half reads too. */
class EntryPointConformanceTest {
    /** Names and arities are those of the Python side, no more and no fewer [P6]. */
    @Test
    void functions_areThoseOfThePythonSide() throws IOException {
        String expected = Vectors.of("entry-points")
                .map(vector -> vector.given().get("function").asText() + "/"
                        + vector.expect().get("arity").asInt())
                .sorted()
                .collect(Collectors.joining(";"));

        assertThat(EntryPoint.expectedHandshake()).isEqualTo(EntryPoint.PROTOCOL_VERSION + ";" + expected);
    }
}
