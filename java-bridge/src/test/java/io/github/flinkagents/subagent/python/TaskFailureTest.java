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

import java.io.IOException;
import java.nio.charset.StandardCharsets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The first failure of an attempt. */
class TaskFailureTest {
    private final TaskFailure failure = new TaskFailure();

    /** The first failure is thrown as it is, later ones do not replace it [P5]. */
    @Test
    void rethrow_afterTwoFailures_throwsTheFirst() {
        IOException first = new IOException("first");
        failure.set(first);
        failure.set(new IllegalStateException("second"));

        assertThatThrownBy(failure::rethrow).isSameAs(first);
    }

    /** An error is thrown as it is, too [P5]. */
    @Test
    void rethrow_error_isNotWrapped() {
        Error error = new StackOverflowError();
        failure.set(error);

        assertThatThrownBy(failure::rethrow).isSameAs(error);
    }

    /** Without a failure nothing is thrown [P5]. */
    @Test
    void rethrow_withoutFailure_doesNothing() {
        assertThat(failure.isSet()).isFalse();
        assertThatCode(failure::rethrow).doesNotThrowAnyException();
    }

    /** A Python failure keeps code, type, message and traceback [P5]. */
    @Test
    void rethrow_pythonFailure_keepsItsParts() {
        failure.setPython("""
                {"code": "action", "type": "ActionError", "message": "pay failed", "traceback": "Traceback\\n  line 3\\n"}
                """.getBytes(StandardCharsets.UTF_8));

        assertThatThrownBy(failure::rethrow)
                .isInstanceOfSatisfying(PythonFailure.class, python -> {
                    assertThat(python.code()).isEqualTo("action");
                    assertThat(python.type()).isEqualTo("ActionError");
                })
                .hasMessage("ActionError: pay failed\nTraceback\n  line 3");
    }

    /** A report that is no JSON is kept as text rather than lost [P5]. */
    @Test
    void rethrow_unreadableReport_isShownAsItIs() {
        failure.setPython("out of memory".getBytes(StandardCharsets.UTF_8));

        assertThatThrownBy(failure::rethrow).hasMessage("out of memory");
    }
}
