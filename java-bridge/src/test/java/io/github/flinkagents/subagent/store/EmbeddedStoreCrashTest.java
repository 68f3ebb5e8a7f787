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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static org.assertj.core.api.Assertions.assertThat;

/** Processes that are really killed. */
class EmbeddedStoreCrashTest {
    private static final int ROUNDS = 3;
    private static final int ACKNOWLEDGED_BEFORE_KILL = 300;

    @TempDir
    private Path folder;

    /** Everything that a killed process had acknowledged is found, round after round, without a gap [S1.1, S1.2, S3.1]. */
    @Test
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void acknowledgedRecords_surviveSigkill() throws Exception {
        int found = 0;
        for (int round = 1; round <= ROUNDS; round++) {
            int acknowledged = appendUntilKilled(found + 1);

            List<JournalRecord> tail = read();

            found = tail.size();
            assertThat(found).as("records after kill %d", round).isGreaterThanOrEqualTo(acknowledged);
            assertThat(tail)
                    .isEqualTo(IntStream.rangeClosed(1, found)
                            .mapToObj(number -> StoreAttempt.record(5, 1, number))
                            .toList());
        }
    }

    private List<JournalRecord> read() throws StoreException {
        ActionStateStore store = new EmbeddedActionStateStore(StoreTesting.embedded(folder));
        try (StoreAttempt attempt =
                StoreAttempt.open(store, StoreAttempt.opening("sub", ALL, StoreOpening.Restored.NONE))) {
            return attempt.tail();
        }
    }

    /** Returns the last number that the process printed before the kill ended it. */
    private int appendUntilKilled(int first) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        CrashingWriter.class.getName(),
                        folder.toString(),
                        Integer.toString(first))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        int last = 0;
        try (BufferedReader printed = process.inputReader()) {
            for (String line = printed.readLine(); line != null; line = printed.readLine()) {
                if (line.matches("\\d+")) {
                    last = Integer.parseInt(line);
                }
                if (last == first + ACKNOWLEDGED_BEFORE_KILL) {
                    process.toHandle().destroyForcibly(); // Unlike the process itself, it leaves the output readable.
                }
            }
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.waitFor())
                .as("exit code of a process killed by SIGKILL")
                .isEqualTo(128 + 9);
        return last;
    }
}
