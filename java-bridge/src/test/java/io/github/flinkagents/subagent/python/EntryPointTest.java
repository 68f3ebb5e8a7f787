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

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The comparison of jar and Python package at start. */
class EntryPointTest {
    /** The same release passes [P6]. */
    @Test
    void handshake_ofTheSameRelease_passes() {
        assertThatCode(() -> EntryPoint.checkHandshake(EntryPoint.expectedHandshake(), "python"))
                .doesNotThrowAnyException();
    }

    /** Another arity is named, with what to do [P6]. */
    @Test
    void handshake_withAnotherArity_namesBothSides() {
        String answer = EntryPoint.expectedHandshake().replace("drain/3", "drain/2");

        assertThatThrownBy(() -> EntryPoint.checkHandshake(answer, "/opt/python (version 3.11)"))
                .isInstanceOf(BridgeException.class)
                .hasMessageContaining("the jar expects [drain/3]")
                .hasMessageContaining("/opt/python (version 3.11) has [drain/2]")
                .hasMessageContaining("Install the same release");
    }

    /** Another protocol version is named [P6]. */
    @Test
    void handshake_ofAnotherVersion_isRefused() {
        String answer = EntryPoint.expectedHandshake().replaceFirst("^2;", "1;");

        assertThatThrownBy(() -> EntryPoint.checkHandshake(answer, "python"))
                .isInstanceOf(BridgeException.class)
                .hasMessageContaining("the jar expects [2]");
    }

    /** No answer at all is refused too [P6]. */
    @Test
    void handshake_withoutAnswer_isRefused() {
        assertThatThrownBy(() -> EntryPoint.checkHandshake(null, "python")).isInstanceOf(BridgeException.class);
    }
}
