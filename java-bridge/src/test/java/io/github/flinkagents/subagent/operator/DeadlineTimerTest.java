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

import org.apache.flink.streaming.runtime.tasks.TestProcessingTimeService;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** One Flink timer for the engine's earliest deadline. */
class DeadlineTimerTest {
    private final TestProcessingTimeService time = new TestProcessingTimeService();
    private final List<Long> fired = new ArrayList<>();
    private final DeadlineTimer timer = new DeadlineTimer(time, () -> fired.add(time.getCurrentProcessingTime()));

    @BeforeEach
    void startAtZero() throws Exception {
        time.setCurrentTime(0);
    }

    /** A deadline fires once, when it is due [E2.3]. */
    @Test
    void set_firesOnceWhenDue() throws Exception {
        timer.set(100);
        time.setCurrentTime(99);
        assertThat(fired).isEmpty();

        time.setCurrentTime(100);
        time.setCurrentTime(500);

        assertThat(fired).containsExactly(100L);
        assertThat(time.getNumActiveTimers()).isZero();
    }

    /** An earlier deadline replaces a later one, with one timer registered [E2.3]. */
    @Test
    void set_earlier_firesAtTheEarlier() throws Exception {
        timer.set(100);
        timer.set(50);
        assertThat(time.getNumActiveTimers()).isEqualTo(1);

        time.setCurrentTime(60);

        assertThat(fired).containsExactly(60L);
        assertThat(time.getNumActiveTimers()).isZero();
    }

    /** A later deadline replaces an earlier one, which does not fire [E2.3]. */
    @Test
    void set_later_firesAtTheLaterOnly() throws Exception {
        timer.set(50);
        timer.set(100);

        time.setCurrentTime(60);
        assertThat(fired).isEmpty();
        time.setCurrentTime(100);

        assertThat(fired).containsExactly(100L);
    }

    /** After a deadline fired, the next one is registered again [E2.3]. */
    @Test
    void set_afterFiring_firesAgain() throws Exception {
        timer.set(10);
        time.setCurrentTime(10);
        timer.set(20);
        time.setCurrentTime(20);

        assertThat(fired).containsExactly(10L, 20L);
    }

    /** Nothing fires after the operator has closed [P3]. */
    @Test
    void close_cancelsTheTimer() throws Exception {
        timer.set(10);
        timer.close();

        time.setCurrentTime(20);

        assertThat(fired).isEmpty();
        assertThat(time.getNumActiveTimers()).isZero();
    }
}
