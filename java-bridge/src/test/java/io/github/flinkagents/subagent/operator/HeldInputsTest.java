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

import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What waits for the runs of inputs to end. */
class HeldInputsTest {
    private final List<Object> forwarded = new ArrayList<>();
    private final HeldInputs held = new HeldInputs(new HeldInputs.Downstream() {
        @Override
        public void watermark(Watermark watermark) {
            forwarded.add(watermark.getTimestamp());
        }

        @Override
        public void status(WatermarkStatus status) {
            forwarded.add(status);
        }
    });

    /** Without held inputs a watermark passes at once [E1.6]. */
    @Test
    void watermark_withoutInputs_passes() throws Exception {
        held.watermark(new Watermark(1));

        assertThat(forwarded).containsExactly(1L);
    }

    /** A watermark waits for the inputs before it and not for those behind it [E1.6]. */
    @Test
    void watermark_waitsForInputsBeforeIt() throws Exception {
        long before = held.arrived();
        held.watermark(new Watermark(1));
        held.arrived();

        assertThat(forwarded).isEmpty();
        held.finished(before);

        assertThat(forwarded).containsExactly(1L);
    }

    /** An epoch that ends early waits for an older one; only its last watermark is sent [E1.6]. */
    @Test
    void watermarks_areSentInOrderOfInputs() throws Exception {
        long first = held.arrived();
        held.watermark(new Watermark(1));
        long second = held.arrived();
        held.watermark(new Watermark(2));
        long third = held.arrived();
        held.watermark(new Watermark(3));

        held.finished(second);
        held.finished(third);
        assertThat(forwarded).isEmpty();
        held.finished(first);

        assertThat(forwarded).containsExactly(3L);
    }

    /** Restored inputs hold watermarks back as others do [E1.6]. */
    @Test
    void watermark_waitsForRestoredInputs() throws Exception {
        held.restored(2);
        long live = held.arrived();
        held.watermark(new Watermark(1));

        held.finished(live);
        held.finished(0);
        assertThat(forwarded).isEmpty();
        held.finished(0);

        assertThat(forwarded).containsExactly(1L);
        assertThat(held.count()).isZero();
    }

    /** Idleness follows the watermark that it would hide [E1.6]. */
    @Test
    void idleness_followsTheHeldWatermark() throws Exception {
        long input = held.arrived();
        held.watermark(new Watermark(1));
        held.status(WatermarkStatus.IDLE);
        held.finished(input);

        assertThat(forwarded).containsExactly(1L, WatermarkStatus.IDLE);
    }

    /** Activity goes before the watermark that needs it [E1.6]. */
    @Test
    void activity_precedesTheHeldWatermark() throws Exception {
        long input = held.arrived();
        held.status(WatermarkStatus.IDLE);
        held.status(WatermarkStatus.ACTIVE);
        held.watermark(new Watermark(7));
        held.finished(input);

        assertThat(forwarded).containsExactly(WatermarkStatus.ACTIVE, 7L);
    }

    /** An input that ends twice is a fault, not a lost count [E1.5]. */
    @Test
    void finished_twice_isRefused() throws Exception {
        long input = held.arrived();
        held.finished(input);

        assertThatThrownBy(() -> held.finished(input)).hasMessageContaining("input " + input + " twice");
    }

    /** In any order of endings a watermark passes exactly when all inputs before it have ended [E1.5, E1.6]. */
    @Test
    void watermarks_underRandomEndings_areNeverEarlyAndNeverStuck() throws Exception {
        for (int seed = 0; seed < 200; seed++) {
            forwarded.clear();
            Random random = new Random(seed);
            List<Long> open = new ArrayList<>();
            Deque<long[]> marks = new ArrayDeque<>();
            long latest = 0;
            for (int step = 0; step < 60; step++) {
                switch (random.nextInt(3)) {
                    case 0 -> {
                        latest = held.arrived();
                        open.add(latest);
                    }
                    case 1 -> {
                        marks.add(new long[] {step, latest});
                        held.watermark(new Watermark(step));
                    }
                    default -> {
                        if (!open.isEmpty()) {
                            held.finished(open.remove(random.nextInt(open.size())));
                        }
                    }
                }
                assertThat(held.count()).as("seed %s", seed).isEqualTo(open.size());
                assertThat(lastForwarded()).as("seed %s", seed).isEqualTo(lastAllowed(marks, open));
            }
            while (!open.isEmpty()) {
                held.finished(open.remove(0));
            }
            assertThat(lastForwarded()).as("seed %s", seed).isEqualTo(lastAllowed(marks, open));
        }
    }

    private long lastForwarded() {
        return forwarded.isEmpty() ? -1 : (Long) forwarded.get(forwarded.size() - 1);
    }

    private static long lastAllowed(Deque<long[]> marks, List<Long> open) {
        long oldest = open.stream().mapToLong(Long::longValue).min().orElse(Long.MAX_VALUE);
        return marks.stream()
                .filter(mark -> mark[1] < oldest)
                .mapToLong(mark -> mark[0])
                .max()
                .orElse(-1);
    }
}
