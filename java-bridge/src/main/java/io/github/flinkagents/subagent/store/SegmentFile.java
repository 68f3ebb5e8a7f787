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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * One file of a writer's log: a header, then frames. Offsets in the log count frames only.
 *
 * @param file where it is
 * @param base the offset in the log of its first frame, as its name says
 */
record SegmentFile(Path file, long base) {
    /** Bytes before the first frame: format name, writer id, base offset, CRC-32C of these. */
    static final int HEADER = 8 + 16 + 8 + 4;

    private static final byte[] FORMAT = "FASLOG01".getBytes(StandardCharsets.US_ASCII);
    private static final String PREFIX = "segment-";

    static SegmentFile at(Path writerFolder, long base) {
        return new SegmentFile(writerFolder.resolve(PREFIX + String.format("%020d", base)), base);
    }

    /** The segments of a log in order; none when the folder is gone. */
    static List<SegmentFile> list(Path writerFolder) throws IOException {
        try {
            return DurableFiles.names(writerFolder).stream()
                    .filter(name -> name.matches(PREFIX + "\\d{20}"))
                    .map(name -> at(writerFolder, Long.parseLong(name.substring(PREFIX.length()))))
                    .sorted(Comparator.comparingLong(SegmentFile::base))
                    .toList();
        } catch (NoSuchFileException e) {
            return List.of();
        }
    }

    /**
     * Returns where a log ends now, and makes everything before it durable: the reader that follows builds on records that
     * their writer may not have forced yet.
     */
    static long durableEnd(Path writerFolder) throws IOException {
        for (List<SegmentFile> segments = list(writerFolder); !segments.isEmpty(); segments = list(writerFolder)) {
            SegmentFile last = segments.get(segments.size() - 1);
            try (FileChannel channel = FileChannel.open(last.file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                long size = channel.size();
                channel.force(true);
                return last.base + Math.max(0, size - HEADER);
            } catch (NoSuchFileException e) {
                continue; // Another attempt releases the whole log just now.
            }
        }
        return 0;
    }

    ByteBuffer header(String writerId) {
        ByteBuffer header = ByteBuffer.allocate(HEADER);
        header.put(FORMAT).put(HexFormat.of().parseHex(writerId)).putLong(base);
        CRC32C crc = new CRC32C();
        crc.update(header.array(), 0, header.position());
        return header.putInt((int) crc.getValue()).flip();
    }

    /** Reads the whole file. */
    ByteBuffer read() throws IOException {
        return ByteBuffer.wrap(Files.readAllBytes(file));
    }

    /** Whether the content begins with the header of this segment in this writer's log. */
    boolean isHeadedBy(ByteBuffer content, String writerId) {
        return content.limit() >= HEADER && content.slice(0, HEADER).equals(header(writerId));
    }
}
