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
import io.github.flinkagents.subagent.protocol.OnAnyThread;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The commit thread: takes everything queued, writes it, forces once, looks for a newer fence once, acknowledges.
 *
 * <p>Invariants: batches are acknowledged in the order in which they were queued. A failure is final: from the first batch
 * concerned on, every one fails, and none is acknowledged any more. Every queued batch is answered.
 */
final class GroupCommit {
    private static final Logger LOG = LoggerFactory.getLogger(GroupCommit.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final SegmentWriter log;
    private final FenceWatch watch;
    private final Path folder;
    private final Thread thread;
    private final Object lock = new Object();
    private List<Batch> queue = new ArrayList<>();
    private List<Batch> committing = List.of();
    private @Nullable Chore chore;
    private @Nullable StoreException failure;

    /** Work on the files that nobody waits for. */
    @FunctionalInterface
    interface Chore {
        void run() throws IOException, StoreException;
    }

    private record Batch(List<JournalRecord> records, CompletableFuture<Void> acknowledged) {}

    GroupCommit(SegmentWriter log, FenceWatch watch, Path folder, String threadName) {
        this.log = log;
        this.watch = watch;
        this.folder = folder;
        this.thread = new Thread(this::run, threadName);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Queues a batch; the future is completed on the commit thread. */
    @OnAnyThread
    CompletableFuture<Void> submit(List<JournalRecord> records) {
        synchronized (lock) {
            if (failure != null) {
                return CompletableFuture.failedFuture(failure);
            }
            Batch batch = new Batch(List.copyOf(records), new CompletableFuture<>());
            queue.add(batch);
            lock.notifyAll();
            return batch.acknowledged;
        }
    }

    /** Queues work on the files; it replaces what was queued before and has not begun. A failure of it is logged. */
    @OnAnyThread
    void submit(Chore work) {
        synchronized (lock) {
            chore = work;
            lock.notifyAll();
        }
    }

    /**
     * Waits for what is being written, fails what is queued, ends the thread. When the file system hangs, what is being
     * written fails too: it is not known to be durable.
     */
    void close() {
        close(CLOSE_TIMEOUT);
    }

    void close(Duration timeout) {
        fail(new StoreException(
                ErrorCode.STORE_UNAVAILABLE,
                "The embedded store in " + folder + " was closed before the append was written"));
        boolean isInterrupted = false;
        long deadline = System.nanoTime() + timeout.toNanos();
        for (long left = timeout.toNanos(); thread.isAlive() && left > 0; left = deadline - System.nanoTime()) {
            try {
                thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
            } catch (InterruptedException e) {
                isInterrupted = true; // A cancelled task closes its store all the same.
            }
        }
        if (thread.isAlive()) {
            LOG.warn("A write to the embedded store in {} hangs in the file system; check the disk or mount", folder);
            failOutstanding();
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try (log) {
            for (Work work = next(); work != null; work = next()) {
                if (!work.batches.isEmpty()) {
                    commit(work.batches);
                }
                if (work.chore != null) {
                    run(work.chore);
                }
            }
        } catch (IOException e) {
            LOG.warn("The last segment of the embedded store in {} could not be closed", folder, e);
        } catch (Throwable t) {
            // Whatever it is, the task hears of it through its appends.
            fail(new StoreException(
                    ErrorCode.STORE_UNAVAILABLE, "The commit thread of the embedded store died: " + t, t));
        } finally {
            failOutstanding();
        }
    }

    private record Work(List<Batch> batches, @Nullable Chore chore) {}

    private @Nullable Work next() {
        synchronized (lock) {
            while (failure == null && queue.isEmpty() && chore == null) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    LOG.debug("Nothing interrupts the commit thread on purpose", e);
                }
            }
            if (failure != null) {
                return null;
            }
            Work work = new Work(queue, chore);
            committing = queue;
            queue = new ArrayList<>();
            chore = null;
            return work;
        }
    }

    private void commit(List<Batch> batches) {
        try {
            for (Batch batch : batches) {
                for (JournalRecord record : batch.records) {
                    log.write(record);
                }
            }
            log.force();
            watch.check();
        } catch (IOException e) {
            fail(StoreFailure.of(e, "append to", folder));
            return;
        } catch (StoreException e) {
            fail(e);
            return;
        }
        batches.forEach(batch -> batch.acknowledged.complete(null));
    }

    private void run(Chore work) {
        try {
            watch.check();
            work.run();
        } catch (IOException e) {
            LOG.warn(
                    "Nothing was released: {}",
                    StoreFailure.of(e, "delete from", folder).getMessage(),
                    e);
        } catch (StoreException e) {
            LOG.warn("Nothing was released: {}", e.getMessage(), e);
        }
    }

    private void fail(StoreException reason) {
        synchronized (lock) {
            failure = failure == null ? reason : failure;
            lock.notifyAll();
        }
    }

    /** Fails, in their order, the batches that are not acknowledged; on the commit thread's way out. */
    private void failOutstanding() {
        List<Batch> outstanding;
        StoreException reason;
        synchronized (lock) {
            outstanding = new ArrayList<>(committing);
            outstanding.addAll(queue);
            queue = new ArrayList<>();
            reason = Objects.requireNonNull(failure, "the commit thread ends by a failure or by close only");
        }
        outstanding.forEach(batch -> batch.acknowledged.completeExceptionally(reason));
    }
}
