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

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Writes one attempt's log. A segment is forced before the next one is begun, so only the last can be torn.
 *
 * <p>Thread: the thread that opened it, then the commit thread alone.
 */
final class SegmentWriter implements AutoCloseable {
    private static final int BUFFER_BYTES = 256 * 1024;

    private final Path folder;
    private final String writerId;
    private final Setup setup;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private @Nullable FileChannel channel;
    private long base;
    private long end;

    /**
     * How segments are made.
     *
     * @param segmentBytes when the next segment is begun; deletion works in whole segments
     * @param opener opens the channel of a file that must not exist yet; tests put failing disks in its place
     */
    record Setup(long segmentBytes, ChannelOpener opener) {
        static final Setup DEFAULT = new Setup(
                16L * 1024 * 1024,
                file -> FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
    }

    /** Opens a channel for writing. */
    @FunctionalInterface
    interface ChannelOpener {
        FileChannel open(Path file) throws IOException;
    }

    private SegmentWriter(Path folder, String writerId, Setup setup) {
        this.folder = folder;
        this.writerId = writerId;
        this.setup = setup;
    }

    /** Begins a log; its folder and first segment are durable on return. */
    static SegmentWriter create(Path folder, String writerId, Setup setup) throws IOException {
        Files.createDirectory(folder);
        SegmentWriter writer = new SegmentWriter(folder, writerId, setup);
        try {
            writer.begin();
            DurableFiles.syncFolder(folder.getParent());
            return writer;
        } catch (IOException e) {
            writer.closeAfter(e);
            throw e;
        }
    }

    /** Closes a log whose opening failed; a failure of closing is noted beside the reason. */
    void closeAfter(Exception reason) {
        try {
            close();
        } catch (IOException e) {
            reason.addSuppressed(e);
        }
    }

    /** Writes a record; it is durable after the next {@link #force}. */
    void write(JournalRecord record) throws IOException {
        if (end - base >= setup.segmentBytes) {
            force();
            close();
            begin();
        }
        put(FrameCodec.prefix(record));
        put(record.key());
        put(record.payload());
        end += FrameCodec.length(record);
    }

    void force() throws IOException {
        flush();
        open().force(false);
    }

    /** Deletes the segments that end at or before an offset; the one being written stays. */
    void deleteBefore(long offset) throws IOException {
        var segments = SegmentFile.list(folder);
        for (int i = 0; i + 1 < segments.size() && segments.get(i + 1).base() <= offset; i++) {
            Files.deleteIfExists(segments.get(i).file());
        }
    }

    @Override
    public void close() throws IOException {
        FileChannel open = channel;
        channel = null;
        if (open != null) {
            open.close();
        }
    }

    private void begin() throws IOException {
        base = end;
        SegmentFile segment = SegmentFile.at(folder, base);
        channel = setup.opener.open(segment.file());
        DurableFiles.writeFully(channel, segment.header(writerId));
        channel.force(true);
        DurableFiles.syncFolder(folder);
    }

    private void put(byte[] bytes) throws IOException {
        for (int done = 0; done < bytes.length; ) {
            if (!buffer.hasRemaining()) {
                flush();
            }
            int part = Math.min(buffer.remaining(), bytes.length - done);
            buffer.put(bytes, done, part);
            done += part;
        }
    }

    private void flush() throws IOException {
        buffer.flip();
        try {
            DurableFiles.writeFully(open(), buffer);
        } finally {
            buffer.clear();
        }
    }

    private FileChannel open() throws IOException {
        if (channel == null) {
            throw new IOException("the segment is closed");
        }
        return channel;
    }
}
