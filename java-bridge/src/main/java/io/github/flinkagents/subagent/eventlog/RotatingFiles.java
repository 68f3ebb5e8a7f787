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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;

/**
 * Lines in files that are full at some size; a number of them is kept. A file belongs to one writer: its name holds the
 * subtask, the time at which it was begun and the attempt, and a name that is taken is passed over. So names sort by age,
 * and those of earlier attempts count and go like the others.
 *
 * <p>After a failed write the next lines begin a new file: the old one may end in half a line.
 */
final class RotatingFiles implements LineSink {
    private static final DateTimeFormatter BEGUN =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'").withZone(ZoneOffset.UTC);
    private static final String SUFFIX = ".jsonl";

    private final Path folder;
    private final String subtask;
    private final String attempt;
    private final Limits limits;
    private final Clock clock;
    private Instant begun = Instant.EPOCH;
    private FileChannel file;
    private long size;

    private RotatingFiles(Path folder, int subtask, int attempt, Limits limits, Clock clock) throws IOException {
        this.folder = folder;
        this.subtask = "subtask-" + subtask + "_";
        this.attempt = "_attempt-" + attempt;
        this.limits = limits;
        this.clock = clock;
        Files.createDirectories(folder);
        this.file = begin();
    }

    /** Makes the folder and begins the first file. */
    static RotatingFiles open(Path folder, int subtask, int attempt, Limits limits, Clock clock) throws IOException {
        return new RotatingFiles(folder, subtask, attempt, limits, clock);
    }

    @Override
    public void write(byte[] lines) throws IOException {
        if (!file.isOpen() || size > 0 && size + lines.length > limits.maxSize()) {
            file.close();
            file = begin();
        }
        size += lines.length;
        try {
            ByteBuffer left = ByteBuffer.wrap(lines);
            while (left.hasRemaining()) {
                file.write(left);
            }
        } catch (IOException failed) {
            file.close();
            throw failed;
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    private FileChannel begin() throws IOException {
        FileChannel next = create();
        size = 0;
        removeOldest();
        return next;
    }

    private FileChannel create() throws IOException {
        // Names have to sort by age, also of files that were begun in one millisecond or before the clock was set back.
        Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
        begun = now.isAfter(begun) ? now : begun.plusMillis(1);
        while (true) {
            try {
                return FileChannel.open(
                        folder.resolve(subtask + BEGUN.format(begun) + attempt + SUFFIX),
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.WRITE);
            } catch (FileAlreadyExistsException taken) {
                // Of another writer; the name of the next millisecond is as good.
                begun = begun.plusMillis(1);
            }
        }
    }

    private void removeOldest() throws IOException {
        List<Path> files = files();
        for (Path old : files.subList(0, Math.max(0, files.size() - limits.maxFiles()))) {
            Files.deleteIfExists(old);
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> found = Files.list(folder)) {
            return found.filter(path -> isOurs(path.getFileName().toString()))
                    .sorted()
                    .toList();
        }
    }

    private boolean isOurs(String name) {
        return name.startsWith(subtask) && name.endsWith(SUFFIX);
    }

    /** When a file is full, and how many are kept. */
    record Limits(long maxSize, int maxFiles) {}
}
