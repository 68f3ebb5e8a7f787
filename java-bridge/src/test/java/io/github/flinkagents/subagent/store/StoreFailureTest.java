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
package io.github.flinkagents.subagent.store;

import io.github.flinkagents.subagent.protocol.ErrorCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** What a user reads when the file system fails, also where a test cannot bring the failure about. */
class StoreFailureTest {
    private static final Path FOLDER = Path.of("/data/store");

    static Stream<Arguments> failures() {
        return Stream.of(
                Arguments.of(new IOException("No space left on device"), "the disk or quota is full", "Free space"),
                Arguments.of(new IOException("Disk quota exceeded"), "the disk or quota is full", "Free space"),
                Arguments.of(
                        new FileSystemException("/data/store/job", null, "Read-only file system"),
                        "mounted read-only",
                        "Mount it writable"),
                Arguments.of(
                        new AccessDeniedException("/data/store/job"), "lacks the right", "read, write and execute"),
                Arguments.of(new NoSuchFileException("/data/store/job"), "deleted", "clean-up jobs"),
                Arguments.of(new ClosedByInterruptException(), "task was cancelled", "last checkpoint"),
                Arguments.of(new IOException("Input/output error"), "Input/output error", "Check the disk"));
    }

    /** Each failure names the folder, the reason and the remedy, and may be retried [S3.1]. */
    @ParameterizedTest
    @MethodSource("failures")
    void failure_namesFolderReasonAndRemedy(IOException cause, String reason, String remedy) {
        StoreException failure = StoreFailure.of(cause, "append to", FOLDER);

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE);
        assertThat(failure)
                .hasCause(cause)
                .hasMessageContaining("cannot append to " + FOLDER)
                .hasMessageContaining(reason)
                .hasMessageContaining(remedy);
    }

    /** The file concerned is named beside the store's folder [S3.1]. */
    @Test
    void failure_namesTheFileConcerned() {
        StoreException failure = StoreFailure.of(new AccessDeniedException("/data/store/job"), "open", FOLDER);

        assertThat(failure).hasMessageContaining("/data/store (/data/store/job)");
    }
}
