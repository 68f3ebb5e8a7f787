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
package io.github.flinkagents.subagent.operator;

import io.github.flinkagents.subagent.eventlog.EventLog;
import io.github.flinkagents.subagent.protocol.KeyGroups;
import io.github.flinkagents.subagent.protocol.OnAnyThread;
import io.github.flinkagents.subagent.protocol.OnMailboxThread;
import io.github.flinkagents.subagent.python.TaskFailure;
import io.github.flinkagents.subagent.store.JournalRecord;
import io.github.flinkagents.subagent.subagents.JavaSubagents;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.Callable;
import java.util.function.Consumer;

/**
 * What the Python side calls: the effects of the engine, performed. Only long, ASCII text, {@code byte[]} and null cross
 * (decision 0003).
 *
 * <p>A Java exception loses its identity on its way through Python; it is kept before it is thrown, and the Java caller of
 * the entry point throws the original. No method yields to the mailbox: Python is on the stack.
 *
 * <p>Python frees its reference to this object when its collector comes to it, which may be many restarts later. So nothing
 * of the attempt can be reached from here any more once it is closed.
 *
 * <p>Thread: the mailbox thread, checked, except {@link #wake} and {@link #fail}.
 */
@OnMailboxThread
public final class EngineHost {
    /** The timestamp of an input that has none. */
    static final long NO_TIMESTAMP = Long.MIN_VALUE;

    private final Thread mailboxThread = Thread.currentThread();
    private final TaskFailure failure;
    private final int maxParallelism;
    /** Null once closed. */
    private volatile @Nullable Effects effects;

    EngineHost(TaskFailure failure, Effects effects, int maxParallelism) {
        this.failure = failure;
        this.effects = effects;
        this.maxParallelism = maxParallelism;
    }

    /** Lets go of the attempt, which has ended: what comes from other threads is ignored from here on. */
    void close() {
        effects = null;
    }

    /** Performs a block of effects, in their order. */
    public void perform(byte[] block) throws Exception {
        perform(open -> new EffectBlock(open, maxParallelism).perform(block));
    }

    /** Appends a record and returns when it is durable. */
    public void commit(byte[] key, long runNumber, long recordNumber, byte[] payload) throws Exception {
        perform(open -> open.journal().commit(journalRecord(key, runNumber, recordNumber, payload)));
    }

    /** Returns the processing time in milliseconds. */
    public long now() throws Exception {
        return answer(open -> open.clock().call());
    }

    /** Returns the memory entry at a path of a key, null when there is none. */
    public byte @Nullable [] readMemory(byte[] key, byte[] path) throws Exception {
        return answer(open -> open.memory().read(key, path));
    }

    /** Returns the highest run number written for a key, 0 when there is none. */
    public long runNumber(byte[] key) throws Exception {
        return answer(open -> open.memory().runNumber(key));
    }

    /** Runs a blocking call on a pool thread. */
    public void startCall(long call) throws Exception {
        perform(open -> open.calls().start(call));
    }

    /** Loads, makes and opens a Java sub-agent; returns its mode, or why it cannot be opened (decision 0008). */
    public byte[] openSubagent(long subagent, byte[] description) throws Exception {
        return answer(open -> open.subagents().open(subagent, description));
    }

    /** Starts a call of a Java sub-agent. */
    @OnAnyThread
    public void callSubagent(long call, long subagent, byte[] request) {
        ifOpen(open -> open.subagents().call(call, subagent, request));
    }

    /** Keeps a call of a Java sub-agent from starting, or interrupts it. */
    @OnAnyThread
    public void cancelSubagentCall(long call) {
        ifOpen(open -> open.subagents().cancel(call));
    }

    /** Closes a Java sub-agent. */
    public void closeSubagent(long subagent) throws Exception {
        perform(open -> open.subagents().close(subagent));
    }

    /** Writes or, with null, clears the checkpoint entry of a key. */
    public void snapshotEntry(byte[] key, byte @Nullable [] entry) throws Exception {
        perform(open -> open.runs().write(key, entry));
    }

    /** Adds to a counter. */
    public void count(String name, String label, long amount) throws Exception {
        perform(open -> open.metrics().count(name, label, amount));
    }

    /** Adds values to a histogram: big-endian 64-bit numbers. */
    public void observe(String name, String label, byte[] values) throws Exception {
        perform(open -> open.metrics().observe(name, label, values));
    }

    /** Hands lines to the event log, which never waits; returns how many were lost since the last time. */
    public long writeEvents(byte[] lines, long count) throws Exception {
        return answer(open -> open.eventLog().write(lines, count));
    }

    /** Tells that completions wait on the Python side. */
    @OnAnyThread
    public void wake() {
        ifOpen(open -> open.wakeUp().wake());
    }

    /** Fails the task with an error object of the Python side. */
    @OnAnyThread
    public void fail(byte[] error) {
        failure.setPython(error);
        ifOpen(open -> open.wakeUp().wake());
    }

    private JournalRecord journalRecord(byte[] key, long runNumber, long recordNumber, byte[] payload) {
        return new JournalRecord(
                KeyGroups.of(key, maxParallelism), key, runNumber, Math.toIntExact(recordNumber), payload);
    }

    private void ifOpen(Consumer<Effects> effect) {
        Effects open = effects;
        if (open != null) {
            effect.accept(open);
        }
    }

    private Effects open() {
        Effects open = effects;
        if (open == null) {
            throw new IllegalStateException("The engine called its host after the task had ended.");
        }
        return open;
    }

    private void perform(Effect effect) throws Exception {
        checkThread();
        try {
            effect.perform(open());
        } catch (Throwable failed) {
            failure.set(failed);
            throw failed;
        }
    }

    private <T extends @Nullable Object> T answer(Query<T> query) throws Exception {
        checkThread();
        try {
            return query.ask(open());
        } catch (Throwable failed) {
            failure.set(failed);
            throw failed;
        }
    }

    private void checkThread() {
        if (Thread.currentThread() != mailboxThread) {
            IllegalStateException misuse = new IllegalStateException("The engine called its host from thread "
                    + Thread.currentThread().getName() + ", not from the task's own.");
            failure.set(misuse);
            throw misuse;
        }
    }

    /** An effect without answer. */
    private interface Effect {
        void perform(Effects effects) throws Exception;
    }

    /** An effect with an answer. */
    private interface Query<T extends @Nullable Object> {
        T ask(Effects effects) throws Exception;
    }

    /** Where outputs go. */
    interface Outputs {
        void emit(byte[] payload, long timestamp) throws Exception;

        void emitDeadLetter(byte[] payload, long timestamp) throws Exception;
    }

    /** What starts blocking calls. */
    interface Calls {
        void start(long call);
    }

    /** The parts of an operator instance that perform effects. */
    record Effects(
            Outputs outputs,
            JournalAppender journal,
            Callable<Long> clock,
            DeadlineTimer timer,
            KeyedMemory memory,
            HeldInputs held,
            InputBlock inputs,
            Calls calls,
            JavaSubagents subagents,
            CheckpointedRuns runs,
            OperatorMetrics metrics,
            @Nullable EventLog eventLog,
            WakeUp wakeUp) {}
}
