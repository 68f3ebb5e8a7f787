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

import io.github.flinkagents.subagent.protocol.KeyBytes;
import io.github.flinkagents.subagent.protocol.KeyGroups;
import io.github.flinkagents.subagent.protocol.OnMailboxThread;
import io.github.flinkagents.subagent.python.PythonHost;
import io.github.flinkagents.subagent.store.StoreOpening;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.types.Row;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;

/**
 * Hosts the engine of one agent for the key groups of one subtask. Takes {@code Row(key text, value bytes)}, gives bytes
 * or text; wires Flink's life cycle to an {@link AgentTask} and decides nothing.
 *
 * <p>While {@code max-held-inputs} is reached, and from the end of a bounded input until its last run has ended, the
 * operator runs its mailbox inside the call that Flink made. Timers and completions go on then; a checkpoint waits.
 */
@OnMailboxThread
final class AgentOperator extends AbstractStreamOperator<Object>
        implements OneInputStreamOperator<Row, Object>, BoundedOneInput {
    static final OutputTag<byte[]> DEAD_LETTER =
            new OutputTag<>("dead-letter", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);

    private static final long serialVersionUID = 1L;
    private static final Set<String> TEXT_FORMATS = Set.of("string", "json");

    private final transient byte[] plan;
    private final transient MailboxExecutor mailbox;
    private transient Settings settings;
    private transient KeyedMemory memory;
    private transient CheckpointedRuns runs;
    private transient CheckpointedPositions positions;
    private transient StoreOpening.Restored restored = StoreOpening.Restored.NONE;
    private transient long maxHeldInputs;
    private transient boolean isSavepoint;
    private transient @Nullable AgentTask task;

    AgentOperator(StreamOperatorParameters<Object> parameters, byte[] plan, Settings settings) {
        super(parameters);
        this.plan = plan;
        this.settings = settings;
        this.mailbox = parameters.getMailboxExecutor();
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        KeyedStateBackend<String> backend = getKeyedStateBackend();
        CurrentKey key = new CurrentKey(backend);
        memory = new KeyedMemory(
                key,
                context.getKeyedStateStore(),
                settings.durationOption("short-term-memory.ttl").orElse(null));
        runs = new CheckpointedRuns(backend, key, context.getKeyedStateStore());
        positions = new CheckpointedPositions(context.getOperatorStateStore());
        Optional<CheckpointedPositions.Element> element = positions.restored(keyGroups());
        if (element.isPresent()) {
            // A restored job goes on under the identifier that it was started with (E5.1).
            settings = settings.with("job-identifier", element.get().jobIdentifier());
            restored = element.get().toRestored();
        }
    }

    @Override
    public void open() throws Exception {
        super.open();
        maxHeldInputs = settings.numberOption("max-held-inputs");
        AgentTask opening = new AgentTask(parts());
        // Before anything can fail, so that close() finds it.
        task = opening;
        opening.open(PythonHost.open(PythonSpecs.of(this, settings), opening.failure()), plan);
    }

    /** Flink need not select the key of each element: whoever accesses state selects it. */
    @Override
    public boolean hasKeyContext1() {
        return false;
    }

    @Override
    public void processElement(StreamRecord<Row> element) throws Exception {
        Row row = element.getValue();
        byte[] key = KeyBytes.fromFlinkKey((String) row.getField(0));
        long timestamp = element.hasTimestamp() ? element.getTimestamp() : EngineHost.NO_TIMESTAMP;
        task.process(key, (byte[]) row.getField(1), timestamp);
        task.yieldUntilFewerThan(maxHeldInputs);
    }

    @Override
    public void processWatermark(Watermark mark) throws Exception {
        task.held().watermark(mark);
    }

    @Override
    public void processWatermarkStatus(WatermarkStatus status) throws Exception {
        task.held().status(status);
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        task.handOver();
        super.prepareSnapshotPreBarrier(checkpointId);
    }

    @Override
    public void endInput() throws Exception {
        task.yieldUntilFewerThan(1);
    }

    @Override
    public OperatorSnapshotFutures snapshotState(
            long checkpointId, long timestamp, CheckpointOptions options, CheckpointStreamFactory factory)
            throws Exception {
        isSavepoint = options.getCheckpointType().isSavepoint();
        return super.snapshotState(checkpointId, timestamp, options, factory);
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        task.snapshot(context.getCheckpointId(), isSavepoint);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        super.notifyCheckpointComplete(checkpointId);
        task.checkpointCompleted(checkpointId);
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        super.notifyCheckpointAborted(checkpointId);
        task.checkpointAborted(checkpointId);
    }

    @Override
    public void close() throws Exception {
        if (task != null) {
            task.close();
        }
        super.close();
    }

    private AgentTask.Parts parts() {
        return new AgentTask.Parts(
                settings,
                mailbox,
                getProcessingTimeService(),
                getUserCodeClassloader(),
                new Downstream(),
                new Outputs(TEXT_FORMATS.contains(settings.text("output-format"))),
                memory,
                runs,
                positions,
                restored,
                getRuntimeContext().getTaskInfo(),
                keyGroups(),
                maxParallelism(),
                new OperatorMetrics(getMetricGroup()));
    }

    private KeyGroups keyGroups() {
        TaskInfo subtask = getRuntimeContext().getTaskInfo();
        KeyGroupRange range = KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                maxParallelism(), subtask.getNumberOfParallelSubtasks(), subtask.getIndexOfThisSubtask());
        return new KeyGroups(range.getStartKeyGroup(), range.getEndKeyGroup());
    }

    private int maxParallelism() {
        return getRuntimeContext().getTaskInfo().getMaxNumberOfParallelSubtasks();
    }

    /** Forwards marks as Flink would have. */
    private final class Downstream implements HeldInputs.Downstream {
        @Override
        public void watermark(Watermark mark) throws Exception {
            AgentOperator.super.processWatermark(mark);
        }

        @Override
        public void status(WatermarkStatus status) throws Exception {
            AgentOperator.super.processWatermarkStatus(status);
        }
    }

    /** Makes records of payloads. */
    private final class Outputs implements EngineHost.Outputs {
        private final boolean isText;

        private Outputs(boolean isText) {
            this.isText = isText;
        }

        @Override
        public void emit(byte[] payload, long timestamp) {
            Object value = isText ? new String(payload, StandardCharsets.UTF_8) : payload;
            output.collect(newRecord(value, timestamp));
        }

        @Override
        public void emitDeadLetter(byte[] payload, long timestamp) {
            output.collect(DEAD_LETTER, newRecord(payload, timestamp));
        }

        private <T> StreamRecord<T> newRecord(T value, long timestamp) {
            return timestamp == EngineHost.NO_TIMESTAMP
                    ? new StreamRecord<>(value)
                    : new StreamRecord<>(value, timestamp);
        }
    }
}
