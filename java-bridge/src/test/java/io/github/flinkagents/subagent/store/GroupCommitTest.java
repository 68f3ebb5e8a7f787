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

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;

/** The commit thread, on a disk whose forcing the test holds up. */
@Timeout(60)
class GroupCommitTest {
    private final CountDownLatch forcing = new CountDownLatch(1);
    private final CountDownLatch mayForce = new CountDownLatch(1);
    private final AtomicInteger forced = new AtomicInteger();
    private final List<String> outcomes = Collections.synchronizedList(new ArrayList<>());

    @TempDir
    private Path folder;

    private GroupCommit commit;

    @BeforeEach
    void start() throws IOException {
        FenceDirectory fences = new FenceDirectory(folder);
        Fence own = fences.claim("00".repeat(16), "sub", "sub", ALL);
        SegmentWriter log = SegmentWriter.create(
                fences.writerFolder(1), own.writerId(), new SegmentWriter.Setup(Long.MAX_VALUE, StallingChannel::new));
        commit = new GroupCommit(log, new FenceWatch(fences, own), folder, "commit under test");
        commit.start();
    }

    @AfterEach
    void stop() {
        mayForce.countDown();
        commit.close();
    }

    /** What is queued while a group is being forced is forced together, once [S3.1]. */
    @Test
    void queuedBatches_areForcedOnce() throws Exception {
        List<CompletableFuture<Void>> appends = new ArrayList<>(List.of(submit(1)));
        forcing.await();
        IntStream.rangeClosed(2, 100).forEach(number -> appends.add(submit(number)));
        mayForce.countDown();
        CompletableFuture.allOf(appends.toArray(CompletableFuture[]::new)).join();

        assertThat(forced).hasValue(2);
    }

    /** Closing lets the group on the disk finish, then fails what waits behind it, in order [S1.1, S1.2]. */
    @Test
    void close_finishesTheGroupAndFailsTheRest() throws Exception {
        submit(1);
        forcing.await();
        submit(2);
        submit(3);
        Thread closing = new Thread(commit::close);
        closing.start();
        awaitWaiting(closing);
        mayForce.countDown();
        closing.join();

        assertThat(outcomes).containsExactly("1 recorded", "2 failed", "3 failed");
        assertThat(submit(4)).isCompletedExceptionally();
    }

    /** Closing does not hang on a disk that hangs: every append fails, and stays failed when the disk comes back [S1.1]. */
    @Test
    void closeOnAHangingDisk_failsEveryAppend() throws Exception {
        CompletableFuture<Void> first = submit(1);
        forcing.await();
        submit(2);

        commit.close(Duration.ofMillis(1));

        assertThat(outcomes).containsExactly("1 failed", "2 failed");
        mayForce.countDown();
        commit.close();
        assertThat(first).isCompletedExceptionally();
    }

    /** A cancelled task, whose thread is interrupted, closes its store properly and stays interrupted [S1.1]. */
    @Test
    void closeOfAnInterruptedThread_stillWaits() throws Exception {
        submit(1);
        forcing.await();
        boolean[] wasInterrupted = new boolean[1];
        Thread closing = new Thread(() -> {
            Thread.currentThread().interrupt();
            commit.close();
            wasInterrupted[0] = Thread.currentThread().isInterrupted();
        });
        closing.start();
        awaitWaiting(closing);
        mayForce.countDown();
        closing.join();

        assertThat(outcomes).containsExactly("1 recorded");
        assertThat(wasInterrupted[0]).isTrue();
    }

    /** A deletion that fails is no failure of the task: later appends are recorded [S1.8]. */
    @Test
    void failingChore_doesNotStopTheAppends() {
        mayForce.countDown();
        commit.submit(() -> {
            throw new IOException("cannot delete");
        });

        assertThat(submit(1)).succeedsWithin(StoreTesting.DEADLINE);
        assertThat(submit(2)).succeedsWithin(StoreTesting.DEADLINE);
    }

    private CompletableFuture<Void> submit(int number) {
        CompletableFuture<Void> append = commit.submit(List.of(record(1, 1, number)));
        append.whenComplete((done, failure) -> outcomes.add(number + (failure == null ? " recorded" : " failed")));
        return append;
    }

    /** Returns once the thread waits for the commit thread to end. */
    private static void awaitWaiting(Thread thread) {
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }

    /** Stalls when it is forced for the first time after the segment's header. */
    private final class StallingChannel extends FaultyChannel {
        private boolean isHeaderForced;

        StallingChannel(Path path) throws IOException {
            super(path);
        }

        @Override
        void beforeForce() throws IOException {
            if (!isHeaderForced) {
                isHeaderForced = true;
                return;
            }
            forced.incrementAndGet();
            forcing.countDown();
            try {
                mayForce.await();
            } catch (InterruptedException e) {
                throw new IOException("nobody interrupts the commit thread", e);
            }
        }
    }
}
