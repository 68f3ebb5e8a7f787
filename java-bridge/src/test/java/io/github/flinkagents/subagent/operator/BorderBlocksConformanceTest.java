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
import io.github.flinkagents.subagent.protocol.Vectors;
import io.github.flinkagents.subagent.python.TaskFailure;
import io.github.flinkagents.subagent.store.JournalRecord;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.runtime.tasks.TestProcessingTimeService;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Blocks that cross the border, against the vectors that the Python half reads too. */
class BorderBlocksConformanceTest {
    private static final HexFormat HEX = HexFormat.of();
    private static final int MAX_PARALLELISM = 8;
    private static final int ARRIVED = 5;

    private final TestProcessingTimeService time = new TestProcessingTimeService();
    private final HeldStore store = new HeldStore();
    private final JournalAppender journal = new JournalAppender(store, new TaskFailure(), () -> {});
    private final InputBlock inputs = new InputBlock();
    private final HeldInputs held = new HeldInputs(null);
    private final List<String> sent = new ArrayList<>();
    private final StateOperator state = new StateOperator(new KeyGroups(0, MAX_PARALLELISM - 1), null);
    private KeyedOneInputStreamOperatorTestHarness<String, String, String> harness;
    private EffectBlock block;
    private int finished;

    static Stream<Vectors.Case> blobs() throws IOException {
        return Vectors.of("border-blocks").filter(vector -> vector.given().has("blobs"));
    }

    static Stream<Vectors.Case> inputs() throws IOException {
        return Vectors.of("border-blocks").filter(vector -> vector.given().has("inputs"));
    }

    static Stream<Vectors.Case> effects() throws IOException {
        return Vectors.of("border-blocks").filter(vector -> vector.given().has("effects"));
    }

    @BeforeEach
    void open() throws Exception {
        harness = StateOperator.harness(state, "hashmap", new int[] {MAX_PARALLELISM, 1, 0});
        harness.open();
        for (int i = 0; i < ARRIVED; i++) {
            inputs.add(held.arrived(), new byte[0], new byte[0], 0);
        }
        inputs.handOver(0);
        DeadlineTimer timer = new DeadlineTimer(time, () -> {});
        block = new EffectBlock(
                new EngineHost.Effects(
                        new Sent(),
                        journal,
                        () -> 0L,
                        timer,
                        state.memory,
                        held,
                        inputs,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null),
                MAX_PARALLELISM);
    }

    @AfterEach
    void close() throws Exception {
        harness.close();
    }

    /** No case is left out by the filters above [P6]. */
    @Test
    void cases_areOfAKnownKind() throws IOException {
        assertThat(Stream.of(blobs(), inputs(), effects())
                        .mapToLong(Stream::count)
                        .sum())
                .isEqualTo(Vectors.of("border-blocks").count());
    }

    /** Byte strings have their pinned form and are read from it [P6]. */
    @ParameterizedTest
    @MethodSource("blobs")
    void blobs_haveTheirPinnedForm(Vectors.Case vector) {
        List<byte[]> parts = new ArrayList<>();
        vector.given().get("blobs").forEach(part -> parts.add(HEX.parseHex(part.asText())));

        byte[] packed = Blobs.pack(parts);

        assertThat(packed).isEqualTo(pinned(vector));
        assertThat(Blobs.unpack(packed)).containsExactlyElementsOf(parts);
    }

    /** Inputs have their pinned form [P6]. */
    @ParameterizedTest
    @MethodSource("inputs")
    void inputs_haveTheirPinnedForm(Vectors.Case vector) {
        JsonNode given = vector.given().get("inputs");
        InputBlock written = new InputBlock();
        long ticket = given.get("first_ticket").asLong();
        for (JsonNode input : given.get("inputs")) {
            written.add(ticket++, bytes(input, "key"), bytes(input, "value"), timestamp(input));
        }

        assertThat(written.handOver(given.get("now").asLong())).isEqualTo(pinned(vector));
    }

    /** Effects are read from their pinned form and performed [P6]. */
    @ParameterizedTest
    @MethodSource("effects")
    void effects_arePerformed(Vectors.Case vector) throws Exception {
        block.perform(pinned(vector));

        journal.flush();
        for (JsonNode effect : vector.given().get("effects")) {
            check(effect);
        }
        assertThat(sent).isEmpty();
        assertThat(store.batches.stream().mapToLong(List::size).sum())
                .isEqualTo(vector.given().toString().contains("append") ? 1 : 0);
    }

    /** An effect that this release does not know is not passed over [P6]. */
    @Test
    void unknownEffect_isRefused() {
        assertThatThrownBy(() -> block.perform(new byte[] {99})).hasMessageContaining("unknown tag 99");
    }

    private void check(JsonNode effect) throws Exception {
        switch (effect.get("effect").asText()) {
            case "emit", "dead_letter" ->
                assertThat(sent.remove(0))
                        .isEqualTo(effect.get("effect").asText() + " "
                                + effect.get("payload").asText() + " " + timestamp(effect));
            case "append" -> assertThat(store.batches).containsExactly(List.of(journalRecord(effect)));
            case "input_finished" -> {
                finished++;
                assertThat(held.count()).isEqualTo(ARRIVED - finished);
            }
            case "write_memory" -> {
                byte[] path = effect.get("path").asText().getBytes(StandardCharsets.UTF_8);
                assertThat(state.memory.read(bytes(effect, "key"), path)).isEqualTo(bytes(effect, "value"));
            }
            case "write_run_number" ->
                assertThat(state.memory.runNumber(bytes(effect, "key")))
                        .isEqualTo(effect.get("run_number").asLong());
            case "set_timer" ->
                assertThat(time.getActiveTimerTimestamps())
                        .containsExactly(effect.get("deadline_ms").asLong());
            case "leave_inputs" ->
                assertThat(inputs.forgetTaken()).isEqualTo(effect.get("count").asInt());
            default -> throw new AssertionError("An unknown effect: " + effect);
        }
    }

    private static JournalRecord journalRecord(JsonNode effect) {
        byte[] key = bytes(effect, "key");
        return new JournalRecord(
                KeyGroups.of(key, MAX_PARALLELISM),
                key,
                effect.get("run_number").asLong(),
                effect.get("record_number").asInt(),
                bytes(effect, "payload"));
    }

    private static long timestamp(JsonNode node) {
        return node.get("timestamp").isNull()
                ? EngineHost.NO_TIMESTAMP
                : node.get("timestamp").asLong();
    }

    private static byte[] bytes(JsonNode node, String field) {
        return HEX.parseHex(node.get(field).asText());
    }

    private static byte[] pinned(Vectors.Case vector) {
        return HEX.parseHex(vector.expect().get("block").asText());
    }

    private final class Sent implements EngineHost.Outputs {
        @Override
        public void emit(byte[] payload, long timestamp) {
            sent.add("emit " + HEX.formatHex(payload) + " " + timestamp);
        }

        @Override
        public void emitDeadLetter(byte[] payload, long timestamp) {
            sent.add("dead_letter " + HEX.formatHex(payload) + " " + timestamp);
        }
    }
}
