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

import io.github.flinkagents.subagent.protocol.OnMailboxThread;
import io.github.flinkagents.subagent.protocol.SafeName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;

/**
 * The event log of one attempt of an operator (E7.2).
 *
 * <p>Lines are taken without waiting and written on a thread of their own. When the writer cannot keep up, or cannot write,
 * lines are lost, never the task: whoever writes is told how many, and each time that writing begins to fail is logged.
 */
@OnMailboxThread
public final class EventLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EventLog.class);
    private static final long MAX_BYTES = 16L << 20;
    private static final long CLOSE_MILLIS = 2000;

    private final LineQueue queue;
    private final LineSink sink;
    private final Thread writer;
    private boolean isFailing;

    EventLog(LineSink sink, long maxBytes) {
        this.sink = sink;
        this.queue = new LineQueue(maxBytes);
        this.writer = new Thread(
                this::writeAll, "agent-event-log of " + Thread.currentThread().getName());
        writer.setDaemon(true);
        writer.start();
    }

    /**
     * Opens the event log that the options ask for; none when it is off.
     *
     * @param options resolved, by name
     * @throws IOException when its first file cannot be made; the message names the folder and the remedy
     */
    public static Optional<EventLog> open(Map<String, ? extends @Nullable Object> options, Origin origin)
            throws IOException {
        String kind = String.valueOf(options.get("event-log"));
        return switch (kind) {
            case "off" -> Optional.empty();
            case "slf4j" -> Optional.of(new EventLog(new LoggerSink(), MAX_BYTES));
            case "file" -> Optional.of(new EventLog(openFiles(options, origin), MAX_BYTES));
            default ->
                throw new IllegalArgumentException("event-log cannot be '" + kind + "'; this jar knows off, file and"
                        + " slf4j. Use the jar and the Python package of one release of flink-agents-subagent.");
        };
    }

    private static LineSink openFiles(Map<String, ? extends @Nullable Object> options, Origin origin)
            throws IOException {
        Path folder = Path.of(String.valueOf(options.get("event-log.file.directory")))
                .toAbsolutePath()
                .resolve(SafeName.encode(origin.jobIdentifier()))
                .resolve(SafeName.encode(origin.operatorUid()));
        RotatingFiles.Limits limits = new RotatingFiles.Limits(
                number(options, "event-log.file.max-size"),
                Math.toIntExact(number(options, "event-log.file.max-files")));
        try {
            return RotatingFiles.open(folder, origin.subtask(), origin.attempt(), limits, Clock.systemUTC());
        } catch (IOException failed) {
            throw new IOException(
                    "The event log cannot be written in " + folder + " (" + failed
                            + "). Make event-log.file.directory a folder on each TaskManager's machine that its user may"
                            + " write to, or set event-log: off.",
                    failed);
        }
    }

    private static long number(Map<String, ? extends @Nullable Object> options, String name) {
        if (options.get(name) instanceof Number number) {
            return number.longValue();
        }
        throw new IllegalArgumentException("The settings of the operator have no number for `" + name
                + "`. Use the jar and the Python package of one release of flink-agents-subagent.");
    }

    /**
     * Takes whole lines, or loses them; never waits.
     *
     * @return how many lines were lost since the last call, these included
     */
    public long write(byte[] lines, long count) {
        return queue.offer(new LineQueue.Block(lines, count));
    }

    /** Writes what was taken, for a short time at most; never throws. */
    @Override
    public void close() {
        queue.close();
        try {
            writer.join(CLOSE_MILLIS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        if (writer.isAlive()) {
            LOG.warn("The event log is closed with lines that are not written yet: its place does not keep up.");
            writer.interrupt();
        }
    }

    private void writeAll() {
        try (LineSink open = sink) {
            for (LineQueue.Block block = queue.take(); block != null; block = queue.take()) {
                write(open, block);
            }
        } catch (InterruptedException interrupted) {
            // The operator is closed and does not wait any more.
            Thread.currentThread().interrupt();
        } catch (IOException failed) {
            LOG.warn("The event log could not be closed.", failed);
        }
    }

    private void write(LineSink open, LineQueue.Block block) {
        try {
            open.write(block.lines());
            queue.written(block);
            isFailing = false;
        } catch (IOException | RuntimeException failed) {
            queue.failed(block);
            if (!isFailing) {
                isFailing = true;
                LOG.warn("The event log cannot be written; its lines are lost until it can.", failed);
            }
        }
    }

    /** Whose lines they are. */
    public record Origin(String jobIdentifier, String operatorUid, int subtask, int attempt) {}
}
