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
import io.github.flinkagents.subagent.protocol.OnMailboxThread;
import io.github.flinkagents.subagent.python.EntryPoint;
import io.github.flinkagents.subagent.python.PythonHost;
import io.github.flinkagents.subagent.python.TaskFailure;
import io.github.flinkagents.subagent.store.ActionStateStore;
import io.github.flinkagents.subagent.store.JournalRecord;
import io.github.flinkagents.subagent.store.RetainedCheckpoints;
import io.github.flinkagents.subagent.store.StoreOpening;
import io.github.flinkagents.subagent.store.StorePosition;
import io.github.flinkagents.subagent.store.StoreSettings;
import io.github.flinkagents.subagent.store.StoreTail;
import io.github.flinkagents.subagent.subagents.JavaSubagents;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One attempt of an agent operator: the engine on the Python side, the store, and what connects them with Flink.
 *
 * <p>Every entry into the engine ends with handing what it appended to the store, and with throwing the first failure of
 * this attempt if there is one.
 */
@OnMailboxThread
final class AgentTask implements AutoCloseable {
    private final String instance = UUID.randomUUID().toString();
    private final TaskFailure failure = new TaskFailure();
    private final ArmedCrash crash = ArmedCrash.ofProcess();
    private final Parts parts;
    private final WakeUp wakeUp;
    private final DeadlineTimer timer;
    private final HeldInputs held;
    private final ActionStateStore store;
    private final JournalAppender journal;
    private final InputBlock inputs = new InputBlock();
    private final Gathering gathering;
    private final RetainedCheckpoints retained;
    private final JavaSubagents subagents;
    private @Nullable PythonHost python;
    private @Nullable EngineHost host;
    private @Nullable EventLog eventLog;
    private String storeId = "";
    private boolean isStarted;

    AgentTask(Parts parts) {
        this.parts = parts;
        StoreSettings storeSettings = StoreSettings.of(parts.settings.options());
        store = crash.around(storeSettings.create());
        wakeUp = new WakeUp(parts.mailbox, this::drain);
        timer = new DeadlineTimer(parts.timeService, this::drain);
        held = new HeldInputs(parts.downstream);
        subagents = new JavaSubagents(
                Math.toIntExact(parts.settings.numberOption("call-threads")),
                Math.toIntExact(parts.settings.numberOption("max-abandoned-calls")),
                parts.userClasses,
                wakeUp::wake,
                failing(failure, wakeUp));
        gathering = new Gathering(parts.mailbox, this::handOverInputs);
        journal = new JournalAppender(store, failure, wakeUp::wake);
        retained = new RetainedCheckpoints(storeSettings.retainedCheckpoints(), parts.restored.positions());
    }

    /**
     * Starts the engine and gives it what the checkpoint and the store hold. Blocks; the engine itself starts with the first
     * mail, because it may emit.
     */
    void open(PythonHost opened, byte[] plan) throws Exception {
        python = opened;
        long start = System.nanoTime();
        int subtask = parts.task.getIndexOfThisSubtask();
        int attempt = parts.task.getAttemptNumber();
        EventLog.Origin origin = new EventLog.Origin(
                parts.settings.text("job-identifier"), parts.settings.text("operator-uid"), subtask, attempt);
        eventLog = EventLog.open(parts.settings.options(), origin).orElse(null);
        parts.metrics.gauge("held_inputs", held::count);
        opened.startThreads(instance, wakeUp::wake);
        Settings settings = parts.settings
                .with("python-files-directory", opened.pythonFilesDirectory())
                .with("subtask", String.valueOf(subtask))
                .with("task-attempt", String.valueOf(attempt))
                .with("crash-at", crash.text());
        host = newHost(opened);
        opened.call(EntryPoint.OPEN, host, instance, plan, settings.toJson());
        parts.runs.forEach(
                (key, entry) -> held.restored((Long) opened.call(EntryPoint.RESTORE_ENTRY, instance, key, entry)));
        StoreTail tail = store.open(new StoreOpening(
                parts.settings.text("job-identifier"),
                parts.settings.text("operator-uid"),
                parts.settings.text("submission-id"),
                parts.keyGroups,
                parts.maxParallelism,
                parts.restored));
        storeId = tail.storeId();
        for (JournalRecord found : tail.records()) {
            opened.call(
                    EntryPoint.RESTORE_RECORD,
                    instance,
                    found.key(),
                    found.runNumber(),
                    (long) found.recordNumber(),
                    found.payload());
        }
        long recoveryMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        parts.metrics.gauge("recovery_ms", () -> recoveryMillis);
        // A gauge lives as long as the task; it must not hold the tail.
        int recovered = tail.records().size();
        long setAside = tail.setAside();
        parts.metrics.gauge("recovered_records", () -> recovered);
        parts.metrics.gauge("records_set_aside", () -> setAside);
        parts.mailbox.execute(this::ensureStarted, "Start the engine");
    }

    /** Hands an input to the engine, soon, together with others that come at once. */
    void process(byte[] key, byte[] value, long timestamp) throws Exception {
        inputs.add(held.arrived(), key, value, timestamp);
        gathering.arrived(value.length);
    }

    /** Hands every input that came to the engine. */
    void handOver() throws Exception {
        gathering.handOver();
    }

    /** What holds watermarks back. */
    HeldInputs held() {
        return held;
    }

    /** Runs the mailbox until fewer than so many inputs are held. */
    void yieldUntilFewerThan(long count) throws Exception {
        ensureStarted();
        if (held.count() >= count) {
            handOver();
        }
        while (held.count() >= count) {
            parts.mailbox.yield();
        }
    }

    /** Writes the entries of changed keys and the positions of the store. */
    void snapshot(long checkpointId, boolean isSavepoint) throws Exception {
        ensureStarted();
        crash.pass(CrashPoint.BEFORE_SNAPSHOT);
        enter(EntryPoint.SNAPSHOT, instance, now());
        Map<Integer, StorePosition> positions = store.positions(checkpointId);
        parts.positions.write(
                new CheckpointedPositions.Element(parts.settings.text("job-identifier"), storeId, positions));
        crash.pass(CrashPoint.AFTER_SNAPSHOT);
        if (!isSavepoint) {
            retained.snapshotTaken(checkpointId, positions);
        }
    }

    /** Lets the store release what no retained checkpoint needs. */
    void checkpointCompleted(long checkpointId) {
        retained.checkpointCompleted(checkpointId).ifPresent(oldest -> store.release(checkpointId, oldest));
    }

    /** Forgets a checkpoint that failed. */
    void checkpointAborted(long checkpointId) {
        retained.checkpointAborted(checkpointId);
    }

    /** Ends the attempt, also one that was opened in part only; never throws. */
    @Override
    public void close() {
        wakeUp.close();
        timer.close();
        // Before the sub-agents themselves are closed, which the Python side asks for.
        stopSubagentCalls();
        if (python != null) {
            python.callQuietly(EntryPoint.CLOSE, instance);
            python.close();
        }
        if (eventLog != null) {
            eventLog.close();
        }
        if (host != null) {
            host.close();
        }
        store.close();
    }

    private int handOverInputs() throws Exception {
        ensureStarted();
        enter(EntryPoint.PROCESS, instance, inputs.handOver(now()));
        return inputs.forgetTaken();
    }

    private void drain() throws Exception {
        ensureStarted();
        failure.rethrow();
        byte[] answers = subagents.takeAnswers();
        if (answers.length > 0) {
            enter(EntryPoint.ANSWER_CALLS, instance, answers);
        }
        enter(EntryPoint.DRAIN, instance, journal.takeAcknowledged(), now());
    }

    /** Not a method of the task: threads of calls hold it, which may outlive the task. */
    private static Consumer<Throwable> failing(TaskFailure failure, WakeUp wakeUp) {
        return error -> {
            failure.set(error);
            wakeUp.wake();
        };
    }

    private void stopSubagentCalls() {
        try {
            subagents.stopCalls();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void ensureStarted() throws Exception {
        if (!isStarted) {
            isStarted = true;
            enter(EntryPoint.START, instance, now());
        }
    }

    private void enter(EntryPoint entry, Object... arguments) throws Exception {
        Object effects = python.call(entry, arguments);
        if (effects != null) {
            host.perform((byte[]) effects);
        }
        journal.flush();
    }

    private long now() {
        return parts.timeService.getCurrentProcessingTime();
    }

    private EngineHost newHost(PythonHost opened) {
        return new EngineHost(
                failure,
                new EngineHost.Effects(
                        parts.outputs,
                        journal,
                        this::now,
                        timer,
                        parts.memory,
                        held,
                        inputs,
                        opened::startCall,
                        subagents,
                        parts.runs,
                        parts.metrics,
                        eventLog,
                        wakeUp),
                parts.maxParallelism);
    }

    /** The failure of this attempt, shared with the Python host. */
    TaskFailure failure() {
        return failure;
    }

    /** What Flink gives to an attempt. */
    record Parts(
            Settings settings,
            MailboxExecutor mailbox,
            ProcessingTimeService timeService,
            ClassLoader userClasses,
            HeldInputs.Downstream downstream,
            EngineHost.Outputs outputs,
            KeyedMemory memory,
            CheckpointedRuns runs,
            CheckpointedPositions positions,
            StoreOpening.Restored restored,
            TaskInfo task,
            KeyGroups keyGroups,
            int maxParallelism,
            OperatorMetrics metrics) {}
}
