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

import io.github.flinkagents.subagent.protocol.Vectors;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/** The methods of the host, as the shared vectors say. */
class EngineHostConformanceTest {
    /** The methods that Python calls have their pinned names and arities, and there are no others [P6]. */
    @Test
    void methods_areThoseThatPythonCalls() throws IOException {
        String pinned = Vectors.of("host-methods")
                .map(vector -> vector.given().get("method").asText() + "/"
                        + vector.expect().get("arity").asInt())
                .sorted()
                .collect(Collectors.joining(" "));

        String offered = Arrays.stream(EngineHost.class.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                .map(method -> method.getName() + "/" + method.getParameterCount())
                .sorted()
                .collect(Collectors.joining(" "));

        assertThat(offered).isEqualTo(pinned);
    }
}
