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
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What an interpreter tells about itself, and what is refused. */
class PythonExecutableTest {
    @TempDir
    private Path folder;

    /** An interpreter that does not exist is named, with the option to set [P2]. */
    @Test
    void inspect_missingExecutable_namesPathAndOption() {
        assertThatThrownBy(() -> PythonExecutable.inspect("/no/such/python"))
                .isInstanceOf(BridgeException.class)
                .hasMessageContaining("`/no/such/python`")
                .hasMessageContaining("python.executable");
    }

    /** An interpreter that fails is shown with what it printed [P2]. */
    @Test
    void inspect_failingExecutable_showsItsOutput() throws IOException {
        String path = script("echo broken installation; exit 3");

        assertThatThrownBy(() -> PythonExecutable.inspect(path))
                .isInstanceOf(BridgeException.class)
                .hasMessageContaining("status 3: broken installation");
    }

    /** Something that is no Python is refused with what it answered [P2]. */
    @Test
    void inspect_executableThatIsNoPython_isRefused() throws IOException {
        String path = script("echo hello");

        assertThatThrownBy(() -> PythonExecutable.inspect(path))
                .isInstanceOf(BridgeException.class)
                .hasMessageContaining("it answered hello");
    }

    /** The answer is read although the environment prints something before it [P2]. */
    @Test
    void inspect_talkativeExecutable_isUnderstood() throws Exception {
        String path = script(
                "echo welcome; echo '{\"version\": \"3.12\", \"sites\": [\"/a\", \"/a\", \"/b\"], \"pemja\": true}'");

        PythonExecutable executable = PythonExecutable.inspect(path);

        assertThat(executable).isEqualTo(new PythonExecutable(path, "3.12", List.of("/a", "/b"), true));
    }

    /** Another version than the plan's is refused with both versions and the interpreter [P2, E4.8]. */
    @Test
    void check_otherVersion_namesBoth() {
        PythonExecutable executable = new PythonExecutable("/opt/python", "3.10", List.of(), true);

        assertThatThrownBy(() -> executable.check("3.11"))
                .isInstanceOf(BridgeException.class)
                .hasMessageContaining("/opt/python, is version 3.10")
                .hasMessageContaining("submitted with version 3.11");
    }

    /** An interpreter without pemja is refused with what to install [P2]. */
    @Test
    void check_withoutPemja_namesThePackage() {
        PythonExecutable executable = new PythonExecutable("/opt/python", "3.11", List.of(), false);

        assertThatThrownBy(() -> executable.check("3.11"))
                .isInstanceOf(BridgeException.class)
                .hasMessageContaining("/opt/python, has no package pemja")
                .hasMessageContaining("Install flink-agents-subagent");
    }

    /** The plan's version with pemja passes [P2]. */
    @Test
    void check_fittingInterpreter_passes() {
        assertThatCode(() -> new PythonExecutable("/opt/python", "3.11", List.of(), true).check("3.11"))
                .doesNotThrowAnyException();
    }

    private String script(String body) throws IOException {
        Path path = Files.writeString(folder.resolve("python"), "#!/bin/sh\n" + body + "\n");
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
        return path.toString();
    }
}
