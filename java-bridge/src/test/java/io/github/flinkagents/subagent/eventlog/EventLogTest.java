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
package io.github.flinkagents.subagent.eventlog;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Lines reach their place, in files that are full at some size, or are lost and counted; nothing waits. */
class EventLogTest {
    private static final EventLog.Origin ORIGIN = new EventLog.Origin("My job", "agent-a", 3, 1);
    private static final Clock NOON = Clock.fixed(Instant.parse("2026-01-02T12:00:00Z"), ZoneOffset.UTC);
    private static final String FIRST = "subtask-3_20260102T120000.000Z_attempt-1.jsonl";

    @TempDir
    private Path folder;

    /** Lines are in a file below job and operator when the log is closed [E7.2]. */
    @Test
    void file_holdsTheLines() throws Exception {
        Map<String, Object> options = options("file", folder);

        try (EventLog log = EventLog.open(options, ORIGIN).orElseThrow()) {
            assertThat(log.write(ascii("a\nb\n"), 2)).isZero();
            assertThat(log.write(ascii("c\n"), 1)).isZero();
        }

        List<Path> files = files(folder.resolve("%4dy%20job").resolve("agent-a"));
        assertThat(files).hasSize(1);
        assertThat(files.get(0).getFileName().toString())
                .matches("subtask-3_\\d{8}T\\d{6}\\.\\d{3}Z_attempt-1\\.jsonl");
        assertThat(files.get(0)).hasContent("a\nb\nc\n");
    }

    /** Off is nothing at all; a logger needs no folder [E7.2]. */
    @Test
    void off_opensNothing() throws Exception {
        assertThat(EventLog.open(options("off", folder), ORIGIN)).isEmpty();
        try (EventLog log = EventLog.open(options("slf4j", folder), ORIGIN).orElseThrow()) {
            assertThat(log.write(ascii("a\n"), 1)).isZero();
        }
        assertThat(files(folder)).isEmpty();
    }

    /** A folder that cannot be made fails the start, with its name and the remedy [E7.2]. */
    @Test
    void unusableFolder_isNamed() throws Exception {
        Path taken = Files.writeString(folder.resolve("taken"), "a file");

        assertThatThrownBy(() -> EventLog.open(options("file", taken), ORIGIN))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(taken.toString())
                .hasMessageContaining("event-log.file.directory")
                .hasMessageContaining("may write to");
    }

    /** A file that is full is followed by another, and the oldest go; other subtasks' files stay [E7.2]. */
    @Test
    void fullFiles_areFollowedAndRemoved() throws Exception {
        Files.writeString(folder.resolve("subtask-3_20251231T000000.000Z_attempt-0.jsonl"), "earlier\n");
        Files.writeString(folder.resolve("subtask-33_20251231T000000.000Z_attempt-0.jsonl"), "other\n");

        try (RotatingFiles files = RotatingFiles.open(folder, 3, 1, new RotatingFiles.Limits(4, 2), NOON)) {
            for (String line : List.of("a\n", "b\n", "c\n", "far too long\n", "d\n")) {
                files.write(ascii(line));
            }
        }

        assertThat(files(folder).stream().map(EventLogTest::content))
                .containsExactlyInAnyOrder("far too long\n", "d\n", "other\n");
    }

    /** Two writers that begin in the same millisecond, as the same attempt, have a file each [E7.2]. */
    @Test
    void writers_neverShareAFile() throws Exception {
        RotatingFiles.Limits limits = new RotatingFiles.Limits(1000, 8);
        try (RotatingFiles one = RotatingFiles.open(folder, 3, 1, limits, NOON);
                RotatingFiles other = RotatingFiles.open(folder, 3, 1, limits, NOON)) {
            one.write(ascii("one\n"));
            other.write(ascii("other\n"));
        }

        assertThat(files(folder)).hasSize(2);
        assertThat(folder.resolve(FIRST)).hasContent("one\n");
    }

    /** What does not fit while the writer hangs is lost and counted, without waiting; later lines are taken again [E7.2]. */
    @Test
    void fullQueue_losesLines() throws Exception {
        HangingSink sink = new HangingSink();
        try (EventLog log = new EventLog(sink, 8)) {
            assertThat(log.write(ascii("first\n"), 1)).isZero();
            sink.isWriting.acquire();
            assertThat(log.write(ascii("x\n"), 1)).isZero();
            assertThat(log.write(ascii("lost\nlost\n"), 2)).isEqualTo(2);
            assertThat(log.write(ascii("z\n"), 1)).isEqualTo(1);
            sink.goOn.countDown();
            // Only once the first is written there is room again.
            sink.isWriting.acquire();
            assertThat(log.write(ascii("last\n"), 1)).isZero();
        }

        assertThat(sink.written).containsExactly("first\n", "x\n", "last\n");
    }

    /** Lines that could not be written count as lost, and the next ones are written [E7.2]. */
    @Test
    void failedWrites_loseLines() throws Exception {
        HangingSink sink = new HangingSink();
        sink.failing = "bad\n";
        try (EventLog log = new EventLog(sink, 1000)) {
            log.write(ascii("bad\n"), 3);
            assertThat(log.write(ascii("good\n"), 1)).isZero();
            sink.goOn.countDown();
            sink.isWriting.acquire(2);
            // The second write began after the first had failed.
            assertThat(log.write(ascii("better\n"), 1)).isEqualTo(3);
        }

        assertThat(sink.written).containsExactly("good\n", "better\n");
    }

    /** Lines behind a failed write begin a file, because the old one may end in half a line [E7.2]. */
    @Test
    void failedFile_isLeft() throws Exception {
        try (RotatingFiles files = RotatingFiles.open(folder, 3, 1, new RotatingFiles.Limits(1000, 8), NOON)) {
            files.write(ascii("a\n"));
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> files.write(ascii("b\n"))).isInstanceOf(IOException.class);
            assertThat(Thread.interrupted()).isTrue();

            files.write(ascii("c\n"));
        }

        assertThat(files(folder).stream().map(EventLogTest::content)).containsExactly("a\n", "c\n");
    }

    private static Map<String, Object> options(String kind, Path directory) {
        return Map.of(
                "event-log",
                kind,
                "event-log.file.directory",
                directory.toString(),
                "event-log.file.max-size",
                1000,
                "event-log.file.max-files",
                8);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static List<Path> files(Path where) throws IOException {
        try (Stream<Path> found = Files.list(where)) {
            return found.sorted().toList();
        }
    }

    private static String content(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Says when it writes, and writes when it is told. */
    private static final class HangingSink implements LineSink {
        private final Semaphore isWriting = new Semaphore(0);
        private final CountDownLatch goOn = new CountDownLatch(1);
        private final List<String> written = new ArrayList<>();
        private volatile String failing = "";

        @Override
        public void write(byte[] lines) throws IOException {
            isWriting.release();
            try {
                goOn.await();
            } catch (InterruptedException interrupted) {
                throw new IOException(interrupted);
            }
            String text = new String(lines, StandardCharsets.US_ASCII);
            if (text.equals(failing)) {
                throw new IOException("disk full");
            }
            written.add(text);
        }

        @Override
        public void close() {}
    }
}
