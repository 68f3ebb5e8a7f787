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

import io.github.flinkagents.subagent.protocol.KeyGroups;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Optional;

/** Holds the state parts of the agent operator, and nothing else of it, for tests on Flink's harness. */
final class StateOperator extends AbstractStreamOperator<String> implements OneInputStreamOperator<String, String> {
    private static final long serialVersionUID = 1L;

    transient KeyedMemory memory;
    transient CheckpointedRuns runs;
    transient Optional<CheckpointedPositions.Element> restored = Optional.empty();
    transient CheckpointedPositions.@Nullable Element toWrite;
    private transient CheckpointedPositions positions;
    private final transient @Nullable Duration timeToLive;
    private final transient KeyGroups keyGroups;

    StateOperator(KeyGroups keyGroups, @Nullable Duration timeToLive) {
        this.keyGroups = keyGroups;
        this.timeToLive = timeToLive;
    }

    /** A harness of one subtask on a state backend. */
    static KeyedOneInputStreamOperatorTestHarness<String, String, String> harness(
            StateOperator operator, String backend, int[] parallelism) throws Exception {
        KeySelector<String, String> itself = value -> value;
        KeyedOneInputStreamOperatorTestHarness<String, String, String> harness =
                new KeyedOneInputStreamOperatorTestHarness<>(
                        operator, itself, Types.STRING, parallelism[0], parallelism[1], parallelism[2]);
        Configuration config = new Configuration();
        config.set(StateBackendOptions.STATE_BACKEND, backend);
        harness.setStateBackend(
                StateBackendLoader.loadStateBackendFromConfig(config, StateOperator.class.getClassLoader(), null));
        return harness;
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        CurrentKey key = new CurrentKey(getKeyedStateBackend());
        memory = new KeyedMemory(key, context.getKeyedStateStore(), timeToLive);
        runs = new CheckpointedRuns(getKeyedStateBackend(), key, context.getKeyedStateStore());
        positions = new CheckpointedPositions(context.getOperatorStateStore());
        restored = positions.restored(keyGroups);
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        if (toWrite != null) {
            positions.write(toWrite);
        }
    }

    @Override
    public void processElement(StreamRecord<String> element) {
        throw new UnsupportedOperationException();
    }
}
