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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.opening;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Attempts that overtake each other, stall and die in the middle of opening or writing [S1.5]. */
@Timeout(60)
class FenceProtocolTest {
    private static final String WRITER = "00".repeat(16);

    private final List<StoreAttempt> attempts = new ArrayList<>();

    @TempDir
    private Path folder;

    @AfterEach
    void closeAll() {
        attempts.forEach(StoreAttempt::close);
    }

    /**
     * An opener that took the ends, stalled, and published its cut only after a later opener had read further, cuts nothing:
     * what the later one built on stays visible [S1.3, S1.5].
     */
    @Test
    void cutPublishedTooLate_doesNotCount() throws Exception {
        StoreAttempt writer = open();
        List<JournalRecord> recorded = new ArrayList<>(writer.record(record(5, 1, 1)));
        FenceDirectory stalled = fences();
        Fence fence = stalled.claim(WRITER, "sub", "sub", ALL);
        long end = SegmentFile.durableEnd(stalled.writerFolder(1));
        JournalRecord unacknowledged = record(5, 1, 2);
        assertThat(writer.append(unacknowledged)).failsWithin(StoreTesting.DEADLINE);
        recorded.add(unacknowledged);
        StoreAttempt later = open();
        assertThat(later.tail()).isEqualTo(recorded);
        stalled.publishCut(fence.number(), Map.of(1L, end));
        recorded.addAll(later.record(record(5, 1, 3)));

        assertThat(open().tail()).isEqualTo(recorded);
    }

    /** A cut published in time bounds what every later reader sees, also when its opener died before it read [S1.3, S1.5]. */
    @Test
    void cutPublishedInTime_countsForGood() throws Exception {
        StoreAttempt writer = open();
        List<JournalRecord> recorded = writer.record(record(5, 1, 1));
        FenceDirectory dying = fences();
        Fence fence = dying.claim(WRITER, "sub", "sub", ALL);
        SegmentWriter.create(dying.writerFolder(2), WRITER, SegmentWriter.Setup.DEFAULT)
                .close();
        dying.publishCut(fence.number(), Map.of(1L, SegmentFile.durableEnd(dying.writerFolder(1))));
        assertThat(writer.append(record(5, 1, 2, "behind the cut"))).failsWithin(StoreTesting.DEADLINE);

        assertThat(open().tail()).isEqualTo(recorded);
        assertThat(open().tail()).isEqualTo(recorded);
    }

    /** An opener that died before it published anything changes nothing for those after it [S1.5]. */
    @Test
    void openerThatDiedEarly_isIgnored() throws Exception {
        List<JournalRecord> recorded = open().record(record(5, 1, 1));
        fences().claim(WRITER, "sub", "sub", ALL);

        assertThat(open().tail()).isEqualTo(recorded);
    }

    /** An opener that was overtaken while it opened gives up itself [S1.5]. */
    @Test
    void openerOvertakenWhileOpening_isFenced() {
        SegmentWriter.Setup overtaken = new SegmentWriter.Setup(Long.MAX_VALUE, file -> {
            try {
                open();
            } catch (StoreException e) {
                throw new IOException(e);
            }
            return SegmentWriter.Setup.DEFAULT.opener().open(file);
        });

        StoreException failure = catchThrowableOfType(StoreException.class, () -> open(overtaken));

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_FENCED);
        assertThat(failure).hasMessageContaining("attempt 2").hasMessageContaining("job-identifier");
    }

    /** A fence that its opener did not finish writing is no fence; attempts pass it by [S1.4, S1.5]. */
    @Test
    void fenceWrittenInPart_isPassedBy() throws Exception {
        StoreAttempt writer = open();
        Files.writeString(operator().resolve("fence-2"), "flink-agents-subagent fence 1\nwriter 00");
        List<JournalRecord> recorded = writer.record(record(5, 1, 1));
        StoreAttempt later = open();

        assertThat(later.tail()).isEqualTo(recorded);
        assertThat(operator().resolve("fence-3")).exists();
        assertFenced(writer.append(record(5, 1, 2)));
        later.record(record(5, 1, 2));
    }

    /** A writer sees a fence whose opener finished writing it after the writer had looked at it first [S1.5]. */
    @Test
    void fenceFinishedLater_isSeen() throws Exception {
        StoreAttempt writer = open();
        Path fence = operator().resolve("fence-2");
        Files.writeString(fence, "flink-agents");
        writer.record(record(5, 1, 1));
        Files.write(fence, new Fence(2, WRITER, "sub", "sub", ALL).encode());

        assertFenced(writer.append(record(5, 1, 2)));
    }

    /** A writer whose own fence is gone, since nobody needs it any more, records nothing [S1.5, S1.8]. */
    @Test
    void writerWithoutItsFence_isFenced() throws Exception {
        StoreAttempt writer = open();
        Files.delete(operator().resolve("fence-1"));

        assertFenced(writer.append(record(5, 1, 1)));
    }

    /** A frame that was half written when the cut was taken and completed later does not exist [S1.1, S1.5]. */
    @Test
    void frameCompletedBehindTheCut_doesNotExist() throws Exception {
        CountDownLatch isHalfWritten = new CountDownLatch(1);
        CountDownLatch mayComplete = new CountDownLatch(1);
        AtomicBoolean stalls = new AtomicBoolean();
        StoreAttempt writer = open(new SegmentWriter.Setup(Long.MAX_VALUE, file -> new FaultyChannel(file) {
            @Override
            void beforeWrite(ByteBuffer source) throws IOException {
                if (stalls.getAndSet(false)) {
                    int half = source.position() + source.remaining() / 2;
                    writeThrough(source.duplicate().limit(half));
                    source.position(half);
                    isHalfWritten.countDown();
                    awaitQuietly(mayComplete);
                }
            }
        }));
        List<JournalRecord> recorded = writer.record(record(5, 1, 1));
        stalls.set(true);
        CompletableFuture<Void> append = writer.append(record(5, 1, 2, "zombie"));
        isHalfWritten.await();
        StoreAttempt later = open();
        mayComplete.countDown();

        assertFenced(append);
        assertThat(later.tail()).isEqualTo(recorded);
        assertThat(open().tail()).isEqualTo(recorded);
    }

    /** Openers that race for a number all get one, without holes [S1.5]. */
    @Test
    void racingOpeners_getDifferentNumbers() throws Exception {
        open();
        CyclicBarrier start = new CyclicBarrier(8);

        List<CompletableFuture<Long>> claims = IntStream.range(0, 8)
                .mapToObj(i -> CompletableFuture.supplyAsync(() -> claimAfter(start), task -> new Thread(task).start()))
                .toList();

        assertThat(claims.stream().map(CompletableFuture::join))
                .containsExactlyInAnyOrder(2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    }

    /** Files of others in the folder do not disturb [S1.4]. */
    @Test
    void filesOfOthers_areIgnored() throws Exception {
        List<JournalRecord> recorded = open().record(record(5, 1, 1));
        for (String name : List.of("fence-x", "fence-007", "fence-0", "cut-", "lost+found", ".nfs0001", "writer-9")) {
            Files.writeString(operator().resolve(name), "?");
        }
        Files.writeString(operator().resolve("writer-1").resolve(".nfs0002"), "?");

        assertThat(open().tail()).isEqualTo(recorded);
    }

    /** A fence or cut that was changed after it was published stops the restore, naming the file [S1.4]. */
    @Test
    void damagedFenceOrCut_isNamed() throws Exception {
        open();
        for (String name : List.of("cut-1", "fence-1")) {
            Path file = operator().resolve(name);
            byte[] content = Files.readAllBytes(file);
            byte[] damaged = content.clone();
            damaged[0] ^= 1;
            Files.write(file, damaged);

            StoreException failure = catchThrowableOfType(StoreException.class, this::open);

            assertThat(failure.code()).isEqualTo(ErrorCode.STORE_CORRUPT);
            assertThat(failure).hasMessageContaining(file.toString()).hasMessageContaining("backup");
            Files.write(file, content);
        }
    }

    private StoreAttempt open() throws StoreException {
        return open(SegmentWriter.Setup.DEFAULT);
    }

    private StoreAttempt open(SegmentWriter.Setup setup) throws StoreException {
        StoreAttempt attempt = StoreAttempt.open(
                new EmbeddedActionStateStore(StoreTesting.embedded(folder), setup),
                opening("sub", ALL, StoreOpening.Restored.NONE));
        attempts.add(attempt);
        return attempt;
    }

    private Path operator() {
        return StoreTesting.operatorFolder(folder);
    }

    private FenceDirectory fences() {
        return new FenceDirectory(operator());
    }

    private long claimAfter(CyclicBarrier start) {
        try {
            start.await();
            return fences().claim(WRITER, "sub", "sub", ALL).number();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void assertFenced(CompletableFuture<Void> append) {
        assertThat(append)
                .failsWithin(StoreTesting.DEADLINE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.STORE_FENCED));
    }

    private static void awaitQuietly(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IOException("nobody interrupts the commit thread", e);
        }
    }
}
