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

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.charset.StandardCharsets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What is said of a class that cannot be a sub-agent. */
class SubagentClassTest {
    private static final String SAMPLES = SampleSubagents.class.getName() + "$";

    /** Whatever is wrong with a class is said with the class and the remedy [B5]. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    Missing    | is in no jar of the job. Add the jar that holds it
                    Stranger   | is no sub-agent; implement DeferredSubagent or AsyncSubagent of io.github.flinkagents.subagent.api
                    Undecided  | is a DeferredSubagent and an AsyncSubagent; make it one of them
                    Unfinished | is abstract; name one that can be made
                    Demanding  | has no public constructor without arguments
                    Failing    | failed: java.lang.IllegalArgumentException: no licence
                    Broken     | cannot be loaded: java.lang.ExceptionInInitializerError
                    """)
    void wrongClass_isRefusedWithItsRemedy(String name, String remedy) {
        assertThatThrownBy(() ->
                        SubagentClass.instantiate(SAMPLES + name, getClass().getClassLoader()))
                .isInstanceOf(OpenFailure.class)
                .hasMessageContaining(SAMPLES + name)
                .hasMessageContaining(remedy);
    }

    /** A jar that brings the API along is told from one that does not implement it [B1, B5]. */
    @Test
    void copyOfTheApi_isNamed() {
        ClassLoader childFirst = new ChildFirst(getClass().getClassLoader(), "io.github.flinkagents");

        assertThatThrownBy(() -> SubagentClass.instantiate(SAMPLES + "Obedient", childFirst))
                .isInstanceOf(OpenFailure.class)
                .hasMessageContaining("scope `provided`");
    }

    /** A failing open() is told with what it threw, and the sub-agent is closed all the same [B5, R3]. */
    @Test
    void failingOpen_isTold() throws Exception {
        JavaSubagents subagents = new JavaSubagents(1, 1, getClass().getClassLoader(), () -> {}, failed -> {});
        String description =
                "{\"resource\": \"r\", \"class\": \"" + SAMPLES + "Closed\", \"args\": {\"url\": \"way\"}}";

        byte[] answer = subagents.open(3, description.getBytes(StandardCharsets.US_ASCII));
        subagents.close(3);

        assertThat(new ObjectMapper().readTree(answer).get("failed").asText())
                .isEqualTo("open() of " + SAMPLES + "Closed failed: java.io.IOException: no way");
        assertThat(SampleSubagents.Closed.isClosed).isTrue();
    }
}
