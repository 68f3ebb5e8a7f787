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
package io.github.flinkagents.subagent.python;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads of one operator instance on which Python runs beside the mailbox thread: one for the background asyncio
 * loop, and a pool for blocking calls. All are made by Java and own their interpreter, because a thread that Python made
 * leaves a record in the JVM each time it calls Java.
 *
 * <p>The pool has no bound of its own: the engine bounds what it starts (E3.10). A thread that waits for a minute ends.
 */
final class CallThreads {
    private static final Logger LOG = LoggerFactory.getLogger(CallThreads.class);
    private static final long IDLE_SECONDS = 60;
    private static final long CLOSE_MILLIS = 500;

    private final PythonEnvironment environment;
    private final String instance;
    private final TaskFailure failure;
    private final Runnable wake;
    private final ClassLoader classLoader = Thread.currentThread().getContextClassLoader();
    private final AtomicInteger threads = new AtomicInteger();
    private final ExecutorService pool;
    private final Thread loop;

    CallThreads(PythonEnvironment environment, String instance, TaskFailure failure, Runnable wake) {
        this.environment = environment;
        this.instance = instance;
        this.failure = failure;
        this.wake = wake;
        ThreadFactory factory = work -> newThread(work, "agent-call-" + threads.incrementAndGet());
        this.pool = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), factory);
        this.loop = newThread(() -> invoke(EntryPoint.RUN_LOOP, instance), "agent-loop");
    }

    /** Starts the background loop's thread. */
    void start() {
        loop.start();
    }

    /** Runs a blocking call on a pool thread; ignored once the pool is closed. */
    void startCall(long call) {
        try {
            pool.execute(() -> invoke(EntryPoint.RUN_CALL, instance, call));
        } catch (RejectedExecutionException closed) {
            LOG.debug("Call {} is not started: the operator is closed.", call);
        }
    }

    /** Ends the threads, the loop having been told to stop; waits briefly only, because Python code cannot be interrupted. */
    void close() throws InterruptedException {
        pool.shutdownNow();
        if (loop.isAlive()) {
            loop.join(CLOSE_MILLIS);
        }
        boolean isEnded = pool.awaitTermination(CLOSE_MILLIS, TimeUnit.MILLISECONDS) && !loop.isAlive();
        if (!isEnded) {
            LOG.warn("Calls still run after the task has ended; their threads end with them.");
        }
    }

    private Thread newThread(Runnable work, String name) {
        Thread thread = new Thread(
                () -> runWithInterpreter(work),
                name + " of " + Thread.currentThread().getName());
        thread.setDaemon(true);
        thread.setContextClassLoader(classLoader);
        return thread;
    }

    private void runWithInterpreter(Runnable work) {
        try {
            ThreadInterpreter interpreter = ThreadInterpreter.acquire(environment, false);
            try {
                work.run();
            } finally {
                interpreter.release();
            }
        } catch (Throwable failed) {
            fail(failed);
        }
    }

    private void invoke(EntryPoint entry, Object... arguments) {
        try {
            ThreadInterpreter interpreter = ThreadInterpreter.acquire(environment, false);
            try {
                interpreter.invoke(entry, arguments);
            } finally {
                interpreter.release();
            }
        } catch (Throwable failed) {
            fail(failed);
        }
    }

    private void fail(Throwable failed) {
        failure.set(failed);
        wake.run();
    }
}
