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

import io.github.flinkagents.subagent.api.AsyncSubagent;
import io.github.flinkagents.subagent.api.DeferredSubagent;
import io.github.flinkagents.subagent.api.ReconcilingSubagent;
import io.github.flinkagents.subagent.api.Subagent;
import io.github.flinkagents.subagent.protocol.OnAnyThread;
import io.github.flinkagents.subagent.protocol.OnMailboxThread;
import org.apache.flink.util.ExceptionUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/**
 * The Java sub-agents of one operator instance, and their calls. A call that was started and not cancelled is answered exactly
 * once; answers wait here until the mailbox takes them.
 */
public final class JavaSubagents {
    private static final Logger LOG = LoggerFactory.getLogger(JavaSubagents.class);
    private static final long CLOSE_MILLIS = 500;

    private final ClassLoader classLoader;
    private final Runnable wake;
    private final Consumer<Throwable> fail;
    private final CallPool pool;
    private final Rendering rendering = new Rendering();
    private final Map<Long, Opened> opened = new ConcurrentHashMap<>();
    private final Queue<Answered> answers = new ConcurrentLinkedQueue<>();

    /**
     * Makes an instance without sub-agents and threads.
     *
     * @param threads how many calls work at the same time
     * @param maxAbandoned how many threads are replaced that calls hold after they were interrupted
     * @param classLoader the job's
     * @param wake tells that answers wait; any thread
     * @param fail ends the task with an error of the JVM; any thread
     */
    public JavaSubagents(
            int threads, int maxAbandoned, ClassLoader classLoader, Runnable wake, Consumer<Throwable> fail) {
        this.classLoader = classLoader;
        this.wake = wake;
        this.fail = fail;
        String task = Thread.currentThread().getName();
        this.pool = new CallPool(threads, maxAbandoned, classLoader, task);
    }

    /** Loads, makes and opens a sub-agent; returns its mode, or why it cannot be opened. */
    @OnMailboxThread
    public byte[] open(long subagent, byte[] description) throws IOException {
        Messages.Description told = Messages.description(description);
        try {
            return Messages.write(open(subagent, told));
        } catch (OpenFailure failure) {
            LOG.warn("The Java sub-agent {} cannot be opened.", told.resource(), failure);
            return Messages.write(Map.of("failed", String.valueOf(failure.getMessage())));
        }
    }

    private Map<String, Object> open(long number, Messages.Description told) throws OpenFailure {
        Subagent subagent = SubagentClass.instantiate(told.className(), classLoader);
        opened.put(number, new Opened(told.resource(), subagent));
        try {
            subagent.open(told.args());
        } catch (Exception | LinkageError failed) {
            throw new OpenFailure("open() of " + told.className() + " failed: " + failed, failed);
        }
        boolean isDeferred = subagent instanceof DeferredSubagent;
        boolean reconciles = subagent instanceof AsyncSubagent || subagent instanceof ReconcilingSubagent;
        return Map.of("mode", isDeferred ? "deferred" : "async", "reconciles", reconciles);
    }

    /** Starts a call on the pool. */
    @OnAnyThread
    public void call(long call, long subagent, byte[] request) {
        pool.start(call, () -> perform(call, opened.get(subagent), request));
    }

    /** Keeps a call from starting or interrupts it; it is not answered. */
    @OnAnyThread
    public void cancel(long call) {
        pool.cancel(call);
    }

    /** Returns the answers that wait, packed; empty when there are none. */
    @OnMailboxThread
    public byte[] takeAnswers() throws IOException {
        if (answers.isEmpty()) {
            return new byte[0];
        }
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(packed);
        for (Answered answered = answers.poll(); answered != null; answered = answers.poll()) {
            out.writeLong(answered.call());
            out.writeInt(answered.answer().length);
            out.write(answered.answer());
        }
        return packed.toByteArray();
    }

    /** Closes a sub-agent, also one whose {@code open} failed; what it throws is logged. */
    @OnMailboxThread
    public void close(long subagent) {
        Opened closing = opened.remove(subagent);
        if (closing == null) {
            return;
        }
        try {
            closing.subagent().close();
        } catch (Exception | LinkageError failed) {
            LOG.warn("The Java sub-agent {} cannot be closed.", closing.resource(), failed);
        }
    }

    /** Interrupts all calls; none is answered any more. */
    @OnMailboxThread
    public void stopCalls() throws InterruptedException {
        if (!pool.close(CLOSE_MILLIS)) {
            LOG.warn("Calls of Java sub-agents still run after they were interrupted; their threads end with them.");
        }
    }

    private void perform(long call, Opened target, byte[] request) {
        try {
            byte[] answer = Messages.write(answer(call, target, request));
            if (pool.isAwaited(call)) {
                answers.add(new Answered(call, answer));
                wake.run();
            }
        } catch (Throwable failed) {
            // Of the JVM, or our own: no outcome of a call.
            fail.accept(failed);
        }
    }

    private Map<String, @Nullable Object> answer(long call, Opened target, byte[] json) throws IOException {
        Messages.Request request = Messages.request(json);
        try {
            return request.operation()
                    .perform(target.subagent(), request.request())
                    .member(rendering);
        } catch (Throwable failed) {
            ExceptionUtils.rethrowIfFatalErrorOrOOM(failed);
            if (pool.isAwaited(call)) {
                // An interrupted call fails because nobody wants it any more.
                LOG.warn(
                        "The Java sub-agent {} failed in {} of call {}.",
                        target.resource(),
                        request.operation(),
                        request.request().callId(),
                        failed);
            }
            return Answer.raised(failed);
        }
    }

    /**
     * A sub-agent that was made.
     *
     * @param resource name of its resource
     * @param subagent the instance
     */
    private record Opened(String resource, Subagent subagent) {}

    /** A call that has ended. */
    private record Answered(long call, byte[] answer) {}
}
