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
import io.github.flinkagents.subagent.store.StorePosition;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What the agent operator keeps in Flink state, on both backends and across rescaling. */
class KeyedStateTest {
    private static final int[] ALONE = {8, 1, 0};
    private static final KeyGroups ALL = new KeyGroups(0, 7);

    /** Memory is kept for each key and path; odd paths do not collide; a removal removes [E6.1, E6.2]. */
    @ParameterizedTest
    @ValueSource(strings = {"hashmap", "rocksdb"})
    void memory_isKeptByKeyAndPath(String backend) throws Exception {
        StateOperator operator = new StateOperator(ALL, null);
        try (var harness = StateOperator.harness(operator, backend, ALONE)) {
            harness.open();
            operator.memory.write(key("a"), packed("x", "1", "é", "2", "", "3"));
            operator.memory.write(key("b"), packed("x", "4"));
            operator.memory.write(key("a"), packed("x", null));

            assertThat(operator.memory.read(key("a"), bytes("x"))).isNull();
            assertThat(operator.memory.read(key("a"), bytes("é"))).isEqualTo(bytes("2"));
            assertThat(operator.memory.read(key("a"), bytes(""))).isEqualTo(bytes("3"));
            assertThat(operator.memory.read(key("b"), bytes("x"))).isEqualTo(bytes("4"));
        }
    }

    /** Memory expires when a time to live is set, the run number does not [E5.2, E6.1]. */
    @Test
    void memory_expires_runNumberDoesNot() throws Exception {
        StateOperator operator = new StateOperator(ALL, Duration.ofMillis(100));
        try (var harness = StateOperator.harness(operator, "hashmap", ALONE)) {
            harness.open();
            harness.setStateTtlProcessingTime(0);
            operator.memory.write(key("a"), packed("x", "1"));
            operator.memory.writeRunNumber(key("a"), 7);
            harness.setStateTtlProcessingTime(99);
            assertThat(operator.memory.read(key("a"), bytes("x"))).isEqualTo(bytes("1"));

            harness.setStateTtlProcessingTime(101);

            assertThat(operator.memory.read(key("a"), bytes("x"))).isNull();
            assertThat(operator.memory.runNumber(key("a"))).isEqualTo(7);
            assertThat(operator.memory.runNumber(key("b"))).isZero();
        }
    }

    /** Entries of a snapshot come back for the keys that had one, cleared ones do not [E4.1]. */
    @ParameterizedTest
    @ValueSource(strings = {"hashmap", "rocksdb"})
    void entries_areRestored(String backend) throws Exception {
        StateOperator first = new StateOperator(ALL, null);
        OperatorSubtaskState snapshot;
        try (var harness = StateOperator.harness(first, backend, ALONE)) {
            harness.open();
            first.runs.write(key("a"), bytes("entry of a"));
            first.runs.write(key("b"), bytes("entry of b"));
            first.runs.write(key("b"), null);
            snapshot = harness.snapshot(1, 1);
        }

        StateOperator second = new StateOperator(ALL, null);
        try (var harness = StateOperator.harness(second, backend, ALONE)) {
            harness.initializeState(snapshot);
            harness.open();

            assertThat(entries(second)).containsExactly(Map.entry("sa", "entry of a"));
        }
    }

    /** Growing and shrinking, each key's entry and each key group's position reach the subtask that owns them [E4.7, E4.3]. */
    @ParameterizedTest
    @ValueSource(strings = {"hashmap", "rocksdb"})
    void entriesAndPositions_followTheKeyGroups(String backend) throws Exception {
        OperatorSubtaskState one = snapshotOfOne(backend);
        Map<String, String> found = new TreeMap<>();
        OperatorSubtaskState[] halves = new OperatorSubtaskState[2];
        for (int subtask = 0; subtask < 2; subtask++) {
            KeyGroups own = new KeyGroups(subtask * 4, subtask * 4 + 3);
            StateOperator operator = new StateOperator(own, null);
            int[] parallelism = {8, 2, subtask};
            try (var harness = StateOperator.harness(operator, backend, parallelism)) {
                harness.initializeState(
                        AbstractStreamOperatorTestHarness.repartitionOperatorState(one, 8, 1, 2, subtask));
                harness.open();
                Map<String, String> entries = entries(operator);
                entries.keySet()
                        .forEach(name -> assertThat(own.contains(KeyGroups.of(bytes(name), 8)))
                                .isTrue());
                found.putAll(entries);
                assertThat(operator.restored).hasValue(element(own));
                operator.toWrite = element(own);
                halves[subtask] = harness.snapshot(2, 2);
            }
        }
        assertThat(found).hasSize(20);

        StateOperator merged = new StateOperator(ALL, null);
        try (var harness = StateOperator.harness(merged, backend, ALONE)) {
            OperatorSubtaskState both = AbstractStreamOperatorTestHarness.repackageState(halves);
            harness.initializeState(AbstractStreamOperatorTestHarness.repartitionOperatorState(both, 8, 2, 1, 0));
            harness.open();

            assertThat(entries(merged)).isEqualTo(found);
            assertThat(merged.restored).hasValue(element(ALL));
        }
    }

    /** State of two jobs in one restore is refused with both named [E5.1]. */
    @Test
    void positions_ofTwoJobs_areRefused() throws Exception {
        OperatorSubtaskState[] halves = new OperatorSubtaskState[2];
        for (int subtask = 0; subtask < 2; subtask++) {
            StateOperator operator = new StateOperator(ALL, null);
            int[] parallelism = {8, 2, subtask};
            try (var harness = StateOperator.harness(operator, "hashmap", parallelism)) {
                harness.open();
                operator.toWrite = new CheckpointedPositions.Element("job " + subtask, "store", Map.of());
                halves[subtask] = harness.snapshot(1, 1);
            }
        }
        StateOperator operator = new StateOperator(ALL, null);
        try (var harness = StateOperator.harness(operator, "hashmap", ALONE)) {
            OperatorSubtaskState both = AbstractStreamOperatorTestHarness.repackageState(halves);

            assertThatThrownBy(() -> harness.initializeState(
                            AbstractStreamOperatorTestHarness.repartitionOperatorState(both, 8, 2, 1, 0)))
                    .hasMessageContaining("job 0")
                    .hasMessageContaining("job 1");
        }
    }

    private static OperatorSubtaskState snapshotOfOne(String backend) throws Exception {
        StateOperator operator = new StateOperator(ALL, null);
        try (var harness = StateOperator.harness(operator, backend, ALONE)) {
            harness.open();
            for (int i = 0; i < 20; i++) {
                operator.runs.write(key("key " + i), bytes("entry " + i));
            }
            operator.toWrite = element(ALL);
            return harness.snapshot(1, 1);
        }
    }

    private static CheckpointedPositions.Element element(KeyGroups keyGroups) {
        Map<Integer, StorePosition> positions = IntStream.rangeClosed(keyGroups.first(), keyGroups.last())
                .boxed()
                .collect(Collectors.toMap(group -> group, group -> StorePosition.of(new byte[] {group.byteValue()})));
        return new CheckpointedPositions.Element("job", "store", positions);
    }

    private static Map<String, String> entries(StateOperator operator) throws Exception {
        Map<String, String> entries = new TreeMap<>();
        operator.runs.forEach((key, entry) -> entries.put(text(key), text(entry)));
        return entries;
    }

    /** Paths and values in turn; a null value removes. */
    private static byte[] packed(String... pathsAndValues) {
        ByteBuffer buffer = ByteBuffer.allocate(1000);
        for (int i = 0; i < pathsAndValues.length; i += 2) {
            byte[] path = bytes(pathsAndValues[i]);
            buffer.putInt(path.length).put(path);
            String value = pathsAndValues[i + 1];
            if (value == null) {
                buffer.putInt(-1);
            } else {
                buffer.putInt(bytes(value).length).put(bytes(value));
            }
        }
        byte[] packed = new byte[buffer.position()];
        buffer.flip().get(packed);
        return packed;
    }

    private static byte[] key(String name) {
        return KeyBytes.ofString(name);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
