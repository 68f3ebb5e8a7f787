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

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

/** One mail for any number of wake-ups. */
class WakeUpTest {
    private final CrankedMailbox mailbox = new CrankedMailbox();
    private int drains;
    private final WakeUp wakeUp = new WakeUp(mailbox, () -> drains++);

    /** Many wake-ups before the mail runs make one mail and one drain [PF5]. */
    @Test
    void wake_manyTimes_makesOneMail() throws Exception {
        wakeUp.wake();
        wakeUp.wake();
        wakeUp.wake();
        assertThat(mailbox.mails).hasSize(1);

        mailbox.runAll();

        assertThat(drains).isEqualTo(1);
    }

    /** A wake-up during a drain makes another mail, so that nothing is missed [PF5]. */
    @Test
    void wake_duringDrain_makesAnotherMail() throws Exception {
        WakeUp[] own = new WakeUp[1];
        own[0] = new WakeUp(mailbox, () -> {
            drains++;
            if (drains == 1) {
                own[0].wake();
            }
        });
        own[0].wake();

        mailbox.runAll();

        assertThat(drains).isEqualTo(2);
    }

    /** After closing neither a new nor a queued wake-up drains [P3]. */
    @Test
    void close_ignoresQueuedAndLaterWakeUps() throws Exception {
        wakeUp.wake();
        wakeUp.close();
        wakeUp.wake();

        mailbox.runAll();

        assertThat(drains).isZero();
    }

    /** A worker that outlives the task keeps nothing of it [P3, PF9]. */
    @Test
    void close_letsGoOfTheTask() throws Exception {
        WakeUp[] kept = new WakeUp[1];

        boolean isReleased = Released.isReleased(() -> {
            byte[] task = new byte[1];
            kept[0] = new WakeUp(mailbox, () -> drains += task.length);
            kept[0].close();
            return task;
        });

        assertThat(isReleased).isTrue();
        assertThatCode(kept[0]::wake).doesNotThrowAnyException();
    }

    /** A worker that comes when the task has ended is not told so by an exception [P5]. */
    @Test
    void wake_closedMailbox_isIgnored() {
        mailbox.isClosed = true;

        assertThatCode(wakeUp::wake).doesNotThrowAnyException();
    }
}
