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
import io.github.flinkagents.subagent.protocol.KeyGroups;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.opening;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Logs that end in the middle of a record, and logs that somebody damaged [S1.4]. */
class DamageTest {
    private static final StoreOpening.Restored FRESH = StoreOpening.Restored.NONE;

    /** Two runs: `a` with three records, `b` with two; the second of `a` is the one that gets damaged. */
    private static final List<JournalRecord> RECORDS = List.of(
            record(5, 1, 1, "a1"),
            record(5, 1, 2, "a2"),
            record(6, 1, 1, "b1"),
            record(5, 1, 3, "a3"),
            record(6, 1, 2, "b2"));

    @TempDir
    private Path folder;

    private Path segment;

    @BeforeEach
    void write() throws StoreException {
        write(SegmentWriter.Setup.DEFAULT);
        segment = SegmentFile.at(writerFolder(), 0).file();
    }

    /** A log cut off at any byte of its last record ends before that record, without complaint [S1.4]. */
    @Test
    void tornLastFrame_isTheExpectedEnd() throws Exception {
        byte[] whole = Files.readAllBytes(segment);
        int length = (int) FrameCodec.length(RECORDS.get(4));
        for (int missing = 1; missing <= length; missing++) {
            Files.write(segment, Arrays.copyOf(whole, whole.length - missing));

            assertThat(read(StoreTesting.embedded(folder)).records())
                    .as("%d bytes missing", missing)
                    .isEqualTo(RECORDS.subList(0, 4));
        }
    }

    /** Zeros behind the last record, as a machine's crash leaves them, are the expected end [S1.4]. */
    @Test
    void zerosBehindTheLastFrame_areTheExpectedEnd() throws Exception {
        byte[] whole = Files.readAllBytes(segment);
        Files.write(segment, Arrays.copyOf(whole, whole.length + 5000));

        assertThat(read(StoreTesting.embedded(folder)).records()).isEqualTo(RECORDS);
    }

    /** A log whose last segment has not even its header is whole [S1.4]. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, SegmentFile.HEADER - 1})
    void segmentWithoutWholeHeader_isTheExpectedEnd(int length) throws Exception {
        long end = Files.size(segment) - SegmentFile.HEADER;
        Files.write(SegmentFile.at(writerFolder(), end).file(), Arrays.copyOf(Files.readAllBytes(segment), length));

        assertThat(read(StoreTesting.embedded(folder)).records()).isEqualTo(RECORDS);
    }

    /** A damaged byte anywhere in a record that others follow stops the restore, with the address [S1.4]. */
    @Test
    void damagedFrame_stopsTheRestore() throws Exception {
        byte[] whole = Files.readAllBytes(segment);
        for (int place = startOfSecond(); place < startOfSecond() + FrameCodec.length(RECORDS.get(1)); place++) {
            byte[] damaged = whole.clone();
            damaged[place] ^= 0x40;
            Files.write(segment, damaged);

            StoreException failure =
                    catchThrowableOfType(StoreException.class, () -> read(StoreTesting.embedded(folder)));

            assertThat(failure.code()).as("byte %d", place).isEqualTo(ErrorCode.STORE_CORRUPT);
            assertThat(failure)
                    .hasMessageContaining(segment + ", bytes " + startOfSecond() + " to ")
                    .hasMessageContaining("store.on-corrupt: skip");
        }
    }

    /** Skipping counts the damaged record and cuts its run there; other runs are whole [S1.2, S1.4]. */
    @Test
    void skippedFrame_cutsItsRun() throws Exception {
        damage(segment, startOfSecond() + 10);

        StoreTail tail = read(StoreTesting.skippingCorrupt(folder));

        assertThat(tail.records()).containsExactly(RECORDS.get(0), RECORDS.get(2), RECORDS.get(4));
        assertThat(tail.setAside()).isEqualTo(1);
    }

    /** What an attempt records in the place of a skipped record counts from then on, also when that can be read again [S1.3, S1.4]. */
    @Test
    void recordsInPlaceOfASkippedOne_count() throws Exception {
        byte[] whole = Files.readAllBytes(segment);
        damage(segment, startOfSecond() + 10);
        JournalRecord instead = record(5, 1, 2, "a2 again");
        try (StoreAttempt attempt = open(StoreTesting.skippingCorrupt(folder))) {
            attempt.record(instead);
        }
        Files.write(segment, whole);

        assertThat(read(StoreTesting.embedded(folder)).records())
                .containsExactly(RECORDS.get(0), RECORDS.get(2), RECORDS.get(4), instead);
    }

    /** Damage before every position that is read does not matter any more [S1.3, S1.4]. */
    @Test
    void damageBeforeThePosition_doesNotMatter() throws Exception {
        StoreOpening.Restored checkpoint;
        List<JournalRecord> behind;
        try (StoreAttempt attempt = open(StoreTesting.embedded(folder))) {
            attempt.record(record(7, 1, 1));
            checkpoint = attempt.checkpoint();
            behind = attempt.record(record(7, 1, 2));
        }
        damage(SegmentFile.at(operator().resolve("writer-2"), 0).file(), SegmentFile.HEADER + 10);

        assertThat(read(StoreTesting.embedded(folder), checkpoint).records()).isEqualTo(behind);
    }

    /** A record of key groups that its writer never owned is foreign [S1.4]. */
    @Test
    void foreignKeyGroup_isDamage() throws Exception {
        byte[] whole = Files.readAllBytes(segment);
        JournalRecord foreign = record(128, 1, 1);
        ByteBuffer mixed = ByteBuffer.allocate(whole.length * 3);
        mixed.put(whole).put(FrameCodec.prefix(foreign)).put(foreign.key()).put(foreign.payload());
        mixed.put(whole, SegmentFile.HEADER, whole.length - SegmentFile.HEADER);
        Files.write(segment, Arrays.copyOf(mixed.array(), mixed.position()));

        assertCorrupt(segment + ", bytes " + whole.length);
    }

    /** A segment of another writer in the folder is foreign, and so is one of another format [S1.4]. */
    @ParameterizedTest
    @ValueSource(ints = {0, 8, 24, 32})
    void segmentWithAnotherHeader_isDamage(int place) throws Exception {
        damage(segment, place);

        assertCorrupt("no segment of this writer's log, or of another format");
    }

    /** A record that is damaged at the end of a segment is damage when another segment follows [S1.4]. */
    @Test
    void damagedEndOfAnEarlierSegment_isDamage() throws Exception {
        useManySegments();
        Path second = SegmentFile.list(writerFolder()).get(1).file();
        damage(second, SegmentFile.HEADER + 10);

        assertCorrupt(second.toString());
    }

    /** A segment that is missing between others is damage [S1.4]. */
    @Test
    void missingSegment_isDamage() throws Exception {
        useManySegments();
        Files.delete(SegmentFile.list(writerFolder()).get(1).file());

        assertCorrupt("missing");
    }

    private void useManySegments() throws Exception {
        try (var files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                if (!file.equals(folder)) {
                    Files.delete(file);
                }
            }
        }
        write(StoreTesting.smallSegments(1));
    }

    private void write(SegmentWriter.Setup setup) throws StoreException {
        ActionStateStore store = new EmbeddedActionStateStore(StoreTesting.embedded(folder), setup);
        try (StoreAttempt attempt = StoreAttempt.open(store, opening("sub", ALL, FRESH))) {
            attempt.record(RECORDS.toArray(JournalRecord[]::new));
        }
    }

    private static int startOfSecond() {
        return (int) (SegmentFile.HEADER + FrameCodec.length(RECORDS.get(0)));
    }

    private static void damage(Path file, int place) throws IOException {
        byte[] content = Files.readAllBytes(file);
        content[place] ^= 0x40;
        Files.write(file, content);
    }

    private void assertCorrupt(String address) {
        StoreException failure = catchThrowableOfType(StoreException.class, () -> read(StoreTesting.embedded(folder)));

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_CORRUPT);
        assertThat(failure).hasMessageContaining(address);
    }

    private StoreTail read(StoreSettings settings) throws StoreException {
        return read(settings, FRESH);
    }

    private StoreTail read(StoreSettings settings, StoreOpening.Restored restored) throws StoreException {
        try (StoreAttempt attempt = StoreAttempt.open(
                new EmbeddedActionStateStore(settings), opening("sub", new KeyGroups(0, 127), restored))) {
            return attempt.wholeTail();
        }
    }

    private StoreAttempt open(StoreSettings settings) throws StoreException {
        return StoreAttempt.open(new EmbeddedActionStateStore(settings), opening("sub", ALL, FRESH));
    }

    private Path operator() {
        return StoreTesting.operatorFolder(folder);
    }

    private Path writerFolder() {
        return operator().resolve("writer-1");
    }
}
