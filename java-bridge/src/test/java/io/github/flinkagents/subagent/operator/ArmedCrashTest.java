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

import io.github.flinkagents.subagent.store.ActionStateStore;
import io.github.flinkagents.subagent.store.JournalRecord;
import io.github.flinkagents.subagent.store.StoreOpening;
import io.github.flinkagents.subagent.store.StorePosition;
import io.github.flinkagents.subagent.store.StoreTail;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A process that is to die for a test dies exactly where it was told to, and any other is left alone. */
class ArmedCrashTest {
    private final List<String> events = new ArrayList<>();
    private final ActionStateStore store = new RecordingStore();

    /** Without the variable nothing stands between the task and its store. */
    @Test
    void withoutVariable_storeIsLeftAsItIs() {
        ArmedCrash crash = ArmedCrash.of(Map.of(), events::add);

        assertThat(crash.around(store)).isSameAs(store);
        assertThat(crash.text()).isEmpty();
        for (CrashPoint point : CrashPoint.values()) {
            crash.pass(point);
        }
        assertThat(events).isEmpty();
    }

    /** Each point is armed by its name, and handed on by it. */
    @ParameterizedTest
    @EnumSource
    void point_isArmedByItsName(CrashPoint point) {
        ArmedCrash crash = armed(point.label() + ":2");

        crash.pass(point);
        assertThat(events).isEmpty();
        crash.pass(point);
        crash.pass(point);

        assertThat(events).containsExactly("crash point " + point.label() + " passed 2 times");
        assertThat(crash.text()).isEqualTo(point.label() + ":2");
    }

    /** What is no point, or no number of passages, is refused with the names that there are. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "before-append",
                "before-append:0",
                "before-append:-1",
                "before_append:1",
                "between:1",
                "BEFORE-APPEND:1"
            })
    void anythingElse_isRefused(String text) {
        assertThatThrownBy(() -> armed(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + text + "'")
                .hasMessageContaining("before-append, after-append")
                .hasMessageContaining("Unset");
    }

    /** Around an append the process dies before the store has it, after, before the task is told that it is durable, or after. */
    @Test
    void append_isSurroundedByItsPoints() {
        assertThat(lifeUntil(CrashPoint.BEFORE_APPEND)).containsExactly("crash");
        assertThat(lifeUntil(CrashPoint.AFTER_APPEND)).containsExactly("append", "crash");
        assertThat(lifeUntil(CrashPoint.BEFORE_ACKNOWLEDGEMENT)).containsExactly("append", "durable", "crash");
        assertThat(lifeUntil(CrashPoint.AFTER_ACKNOWLEDGEMENT)).containsExactly("append", "durable", "told", "crash");
    }

    /** Around opening and releasing too. */
    @Test
    void openAndRelease_areSurroundedByTheirPoints() throws Exception {
        assertThat(around(CrashPoint.BEFORE_OPEN, crashing -> crashing.open(null)))
                .containsExactly("crash", "open");
        assertThat(around(CrashPoint.AFTER_OPEN, crashing -> crashing.open(null)))
                .containsExactly("open", "crash");
        assertThat(around(CrashPoint.BEFORE_RELEASE, crashing -> crashing.release(1, Map.of())))
                .containsExactly("crash", "release");
        assertThat(around(CrashPoint.AFTER_RELEASE, crashing -> crashing.release(1, Map.of())))
                .containsExactly("release", "crash");
    }

    /** A failed append is passed on as it is: nothing is acknowledged. */
    @Test
    void failedAppend_isPassedOn() {
        RecordingStore failing = new RecordingStore();
        CompletableFuture<Void> told =
                armed("after-acknowledgement:1").around(failing).append(List.of());
        IllegalStateException reason = new IllegalStateException("the disk is full");

        failing.durable.completeExceptionally(reason);

        assertThat(told).isCompletedExceptionally();
        assertThatThrownBy(told::join).hasCause(reason);
        assertThat(events).containsExactly("append");
    }

    private ArmedCrash armed(String text) {
        return ArmedCrash.of(Map.of(ArmedCrash.VARIABLE, text), events::add);
    }

    /** Returns what happens to an append until the process is dead. */
    private List<String> lifeUntil(CrashPoint point) {
        List<String> life = new ArrayList<>();
        RecordingStore recording = new RecordingStore(life);
        ArmedCrash crash = ArmedCrash.of(Map.of(ArmedCrash.VARIABLE, point.label() + ":1"), reason -> {
            life.add("crash");
            throw new Died();
        });
        try {
            CompletableFuture<Void> told = crash.around(recording).append(List.of());
            told.whenComplete((nothing, failed) -> life.add("told"));
            life.add("durable");
            recording.durable.complete(null);
        } catch (Died expected) {
            assertThat(life).endsWith("crash");
        }
        return life;
    }

    private interface Use {
        void of(ActionStateStore store) throws Exception;
    }

    private List<String> around(CrashPoint point, Use use) throws Exception {
        List<String> life = new ArrayList<>();
        ArmedCrash crash =
                ArmedCrash.of(Map.of(ArmedCrash.VARIABLE, point.label() + ":1"), reason -> life.add("crash"));
        use.of(crash.around(new RecordingStore(life)));
        return life;
    }

    private static final class Died extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** Notes what is asked of it. */
    private final class RecordingStore implements ActionStateStore {
        private final List<String> asked;
        private final CompletableFuture<Void> durable = new CompletableFuture<>();

        private RecordingStore() {
            this(events);
        }

        private RecordingStore(List<String> asked) {
            this.asked = asked;
        }

        @Override
        public StoreTail open(StoreOpening opening) {
            asked.add("open");
            return new StoreTail("store", List.of(), 0);
        }

        @Override
        public CompletableFuture<Void> append(List<JournalRecord> batch) {
            asked.add("append");
            return durable;
        }

        @Override
        public Map<Integer, StorePosition> positions(long checkpointId) {
            return Map.of();
        }

        @Override
        public void release(long checkpointId, Map<Integer, StorePosition> positionsOfOldestRetained) {
            asked.add("release");
        }

        @Override
        public void close() {
            asked.add("close");
        }
    }
}
