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

import io.github.flinkagents.subagent.protocol.KeyGroups;
import io.github.flinkagents.subagent.protocol.Vectors;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** What is on the disk, pinned: a later release must read it. */
class StoreFormatTest {
    private static final HexFormat HEX = HexFormat.of();
    private static final String WRITER = "000102030405060708090a0b0c0d0e0f";

    @TempDir
    private Path folder;

    static Stream<Vectors.Case> segments() throws IOException {
        return Vectors.of("store-format");
    }

    /** A segment has its pinned bytes [S3.1]. */
    @ParameterizedTest
    @MethodSource("segments")
    void segment_hasItsPinnedBytes(Vectors.Case vector) {
        SegmentFile segment = SegmentFile.at(folder, vector.given().get("base").asLong());
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(segment.header(vector.given().get("writer").asText()).array());
        for (JournalRecord record : records(vector)) {
            bytes.writeBytes(FrameCodec.prefix(record));
            bytes.writeBytes(record.key());
            bytes.writeBytes(record.payload());
        }

        assertThat(HEX.formatHex(bytes.toByteArray()))
                .isEqualTo(vector.expect().get("segment").asText());
    }

    /** A pinned segment is read as what was written [S3.1]. */
    @ParameterizedTest
    @MethodSource("segments")
    void pinnedSegment_isRead(Vectors.Case vector) throws Exception {
        long base = vector.given().get("base").asLong();
        Files.write(
                SegmentFile.at(folder, base).file(),
                HEX.parseHex(vector.expect().get("segment").asText()));
        Fence fence = new Fence(1, vector.given().get("writer").asText(), "sub", "sub", new KeyGroups(0, 127));
        Damage damage = new Damage("The embedded store", "");
        List<JournalRecord> read = new ArrayList<>();

        new LogReader(folder, fence, damage).read(base, Long.MAX_VALUE, (record, start, end) -> read.add(record));

        assertThat(read).isEqualTo(records(vector));
        assertThat(damage.count()).isZero();
    }

    /** A fence file is text that people can read, and is read back, also with odd submission ids [S1.5]. */
    @Test
    void fence_isPinned() {
        String text = "flink-agents-subagent fence 1\nwriter " + WRITER
                + "\nsubmission a+b%0A%C3%A9\norigin 17\nkey-groups 64-127\ncrc32c 5cdbf937\n";
        Fence fence = new Fence(7, WRITER, "a b\né", "17", new KeyGroups(64, 127));

        assertThat(new String(fence.encode(), StandardCharsets.UTF_8)).isEqualTo(text);
        assertThat(Fence.decode(7, text.getBytes(StandardCharsets.UTF_8))).hasValue(fence);
    }

    /** A cut is text as well: fence number and end of its log [S1.5]. */
    @Test
    void cut_isPinned() throws Exception {
        new FenceDirectory(folder).publishCut(9, Map.of(8L, 1234L, 2L, 0L));

        assertThat(folder.resolve("cut-9")).hasContent("2 0\n8 1234\ncrc32c 6f3dca5c\n");
    }

    /** A position in a checkpoint is read back, and pinned [E4.3]. */
    @Test
    void position_isPinned() throws StoreException {
        EmbeddedPosition position = new EmbeddedPosition(3, 1L << 33, "sub");

        assertThat(position.encode()).hasToString("01" + "0000000000000003" + "0000000200000000" + "737562");
        assertThat(EmbeddedPosition.decode(position.encode())).isEqualTo(position);
    }

    private static List<JournalRecord> records(Vectors.Case vector) {
        List<JournalRecord> records = new ArrayList<>();
        for (JsonNode record : vector.given().get("records")) {
            records.add(new JournalRecord(
                    record.get("key_group").asInt(),
                    HEX.parseHex(record.get("key").asText()),
                    record.get("run_number").asLong(),
                    record.get("record_number").asInt(),
                    HEX.parseHex(record.get("payload").asText())));
        }
        return records;
    }
}
