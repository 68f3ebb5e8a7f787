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

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/**
 * Reads one writer's log in order.
 *
 * <p>A writer that died may leave a frame in part at the very end, and a segment without its whole header: that is the
 * expected end, nothing of it was acknowledged. Bytes that cannot be read and are followed by something readable are
 * damage; reading goes on behind them.
 */
final class LogReader {
    private static final Logger LOG = LoggerFactory.getLogger(LogReader.class);

    private final Fence fence;
    private final List<SegmentFile> segments;
    private final Damage damage;

    /** Takes the frames of a log. */
    @FunctionalInterface
    interface FrameSink {
        /** A record and the offsets in the log where its frame starts and ends. */
        void accept(JournalRecord record, long start, long end);
    }

    LogReader(Path writerFolder, Fence fence, Damage damage) throws IOException {
        this.fence = fence;
        this.segments = SegmentFile.list(writerFolder);
        this.damage = damage;
    }

    /** Whether the log still holds everything from an offset on. */
    boolean reachesBackTo(long offset) {
        return !segments.isEmpty() && segments.get(0).base() <= offset;
    }

    /** Reads the frames that start at or behind {@code from}, a frame's start, and end at or before {@code to}. */
    void read(long from, long to, FrameSink sink) throws IOException {
        for (int i = 0; i < segments.size() && segments.get(i).base() < to; i++) {
            long next = i + 1 < segments.size() ? segments.get(i + 1).base() : Long.MAX_VALUE;
            if (next > from) {
                readSegment(segments.get(i), from, new Extent(Math.min(next, to), next >= to), sink);
            }
        }
    }

    /**
     * How far a segment is read.
     *
     * @param stop the offset in the log where its visible part ends
     * @param isLast whether nothing readable can follow
     */
    private record Extent(long stop, boolean isLast) {}

    private void readSegment(SegmentFile segment, long from, Extent extent, FrameSink sink) throws IOException {
        ByteBuffer content = segment.read();
        if (segment.isHeadedBy(content, fence.writerId())) {
            int frames = (int) Math.min(content.limit() - SegmentFile.HEADER, extent.stop - segment.base());
            int visible = SegmentFile.HEADER + frames;
            content.limit(visible);
            int first = (int) (SegmentFile.HEADER + Math.min(Math.max(0, from - segment.base()), visible));
            judgeEnd(segment, readFrames(segment, content, first, sink), visible, extent);
        } else if (!extent.isLast || !isUnfinishedHeader(content)) {
            damage.add(segment, 0, content.limit(), "no segment of this writer's log, or of another format");
        }
    }

    private void judgeEnd(SegmentFile segment, int end, int visible, Extent extent) {
        if (extent.isLast) {
            if (end < visible) {
                LOG.info("{} ends in {} bytes of a record that was not acknowledged", segment.file(), visible - end);
            }
        } else if (end < visible) {
            damage.add(segment, end, visible, "no frame");
        } else if (segment.base() + visible - SegmentFile.HEADER < extent.stop) {
            damage.add(segment, visible, visible, "missing from here; the next segment continues further on");
        }
    }

    /** Returns where the last readable frame ends. */
    private int readFrames(SegmentFile segment, ByteBuffer content, int first, FrameSink sink) {
        long origin = segment.base() - SegmentFile.HEADER;
        int end = first;
        for (int at = first; at < content.limit(); ) {
            JournalRecord record = FrameCodec.read(content, at, fence.keyGroups());
            if (record == null) {
                at++;
                continue;
            }
            if (at > end) {
                damage.add(segment, end, at, "no frame");
            }
            end = at + (int) FrameCodec.length(record);
            sink.accept(record, origin + at, origin + end);
            at = end;
        }
        return end;
    }

    private static boolean isUnfinishedHeader(ByteBuffer content) {
        int length = Math.min(content.limit(), SegmentFile.HEADER);
        return length < SegmentFile.HEADER || content.slice(0, length).equals(ByteBuffer.allocate(length));
    }
}
