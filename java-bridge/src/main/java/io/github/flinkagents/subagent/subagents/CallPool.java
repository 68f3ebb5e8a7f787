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
package io.github.flinkagents.subagent.subagents;

import io.github.flinkagents.subagent.protocol.OnAnyThread;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The threads on which sub-agents work, so many at a time; further calls wait in order. A call that goes on after it was
 * interrupted holds its thread, which is replaced as long as there are not too many of these.
 */
@OnAnyThread
final class CallPool {
    private static final long IDLE_SECONDS = 60;

    private final ThreadPoolExecutor executor;
    private final int size;
    private final int maxAbandoned;
    private final Map<Long, Work> works = new ConcurrentHashMap<>();
    private final AtomicInteger threads = new AtomicInteger();
    private volatile boolean isClosed;
    private int abandoned;

    /**
     * Makes a pool without any thread; its threads get the class loader.
     *
     * @param size how many calls run at the same time
     * @param maxAbandoned how many threads are replaced
     * @param owner for the names of threads
     */
    CallPool(int size, int maxAbandoned, ClassLoader classLoader, String owner) {
        this.size = size;
        this.maxAbandoned = maxAbandoned;
        this.executor = new ThreadPoolExecutor(
                size, size, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
                    Thread thread = new Thread(work, "agent-java-call-" + threads.incrementAndGet() + " of " + owner);
                    thread.setDaemon(true);
                    thread.setContextClassLoader(classLoader);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
    }

    /** Runs the work of a call on a thread of the pool; not at all once the pool is closed. */
    void start(long call, Runnable body) {
        Work work = new Work(call, body);
        works.put(call, work);
        try {
            executor.execute(work);
        } catch (RejectedExecutionException closed) {
            works.remove(call);
        }
    }

    /** Keeps the call from starting, or interrupts its thread; nothing when it has ended. */
    void cancel(long call) {
        Work work = works.remove(call);
        if (work != null) {
            work.giveUp();
        }
    }

    /** Whether somebody waits for this call: it was neither cancelled, nor is the pool closed. */
    boolean isAwaited(long call) {
        return !isClosed && works.containsKey(call);
    }

    /** Interrupts what runs and lets nothing start any more; returns when all have ended or the time is over. */
    boolean close(long waitMillis) throws InterruptedException {
        // First, so that no call that the interrupt ends is taken for one that somebody waits for.
        isClosed = true;
        executor.shutdownNow();
        return executor.awaitTermination(waitMillis, TimeUnit.MILLISECONDS);
    }

    private synchronized void abandon(int change) {
        abandoned += change;
        int wanted = size + Math.min(abandoned, maxAbandoned);
        // The core must never be larger than the maximum.
        if (wanted > executor.getMaximumPoolSize()) {
            executor.setMaximumPoolSize(wanted);
            executor.setCorePoolSize(wanted);
        } else {
            executor.setCorePoolSize(wanted);
            executor.setMaximumPoolSize(wanted);
        }
    }

    private enum Phase {
        WAITING,
        RUNNING,
        ABANDONED,
        ENDED
    }

    /** One call. Its phase tells who frees the thread when it is cancelled while it ends. */
    private final class Work extends FutureTask<Void> {
        private final long call;
        private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.WAITING);

        Work(long call, Runnable body) {
            super(body, null);
            this.call = call;
        }

        @Override
        public void run() {
            if (!phase.compareAndSet(Phase.WAITING, Phase.RUNNING)) {
                return;
            }
            try {
                super.run();
            } finally {
                works.remove(call, this);
                if (!phase.compareAndSet(Phase.RUNNING, Phase.ENDED)) {
                    abandon(-1);
                }
            }
        }

        void giveUp() {
            // A call that has not begun will not; one that has keeps its thread until it returns.
            if (!phase.compareAndSet(Phase.WAITING, Phase.ABANDONED)
                    && phase.compareAndSet(Phase.RUNNING, Phase.ABANDONED)) {
                abandon(1);
            }
            cancel(true);
            executor.remove(this);
        }
    }
}
