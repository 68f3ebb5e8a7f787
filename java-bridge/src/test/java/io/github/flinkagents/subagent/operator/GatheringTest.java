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

import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.OneInputStreamTask;
import org.apache.flink.streaming.runtime.tasks.StreamTaskMailboxTestHarness;
import org.apache.flink.streaming.runtime.tasks.StreamTaskMailboxTestHarnessBuilder;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Elements that come one right after the other are handed over together, and none waits for more. */
class GatheringTest {
    private final CrankedMailbox mailbox = new CrankedMailbox();
    private final List<Integer> handedOver = new ArrayList<>();
    private final Gathering gathering = new Gathering(mailbox, this::handOver);
    private int waiting;
    private int takenAtOnce = Integer.MAX_VALUE;

    /** The mail that Flink runs right behind an element waits for a turn in which none comes; then the element goes [PF5]. */
    @Test
    void element_alone_isHandedOverAfterOneTurn() throws Exception {
        arrive(1);
        mailbox.runOne();
        assertThat(handedOver).isEmpty();

        mailbox.runOne();

        assertThat(handedOver).containsExactly(1);
        assertThat(mailbox.mails).isEmpty();
    }

    /** While Flink delivers an element between two mails, they are gathered; one mail is queued at a time [PF1]. */
    @Test
    void elements_betweenMails_areGathered() throws Exception {
        for (int i = 0; i < 5; i++) {
            arrive(1);
            mailbox.runOne();
            assertThat(mailbox.mails).hasSize(1);
        }
        assertThat(handedOver).isEmpty();

        mailbox.runOne();

        assertThat(handedOver).containsExactly(5);
        assertThat(mailbox.mails).isEmpty();
    }

    /** A limit hands over at once; the mails behind it hand over what comes then [PF1]. */
    @Test
    void elements_upToTheLimit_areHandedOverAtOnce() throws Exception {
        for (int i = 0; i < Gathering.LIMIT; i++) {
            arrive(1);
        }
        assertThat(handedOver).containsExactly(Gathering.LIMIT);

        arrive(1);
        assertThat(mailbox.mails).hasSize(1);
        mailbox.runAll();

        assertThat(handedOver).containsExactly(Gathering.LIMIT, 1);
    }

    /** In the loop of a real task, elements that wait in its channel go over together, up to the limit [PF1]. */
    @Test
    void elements_thatWaitInTheChannel_areHandedOverTogether() throws Exception {
        int count = 3 * Gathering.LIMIT + 5;
        try (StreamTaskMailboxTestHarness<String> task = new StreamTaskMailboxTestHarnessBuilder<>(
                        OneInputStreamTask::new, Types.STRING)
                .addInput(Types.STRING)
                .setupOutputForSingletonOperatorChain(new GatheringOperator.Factory())
                .build()) {
            task.setAutoProcess(false);
            for (int i = 0; i < count; i++) {
                task.processElement(new StreamRecord<>("element"));
            }
            task.endInput();
            task.getStreamTask().runMailboxLoop();

            String full = Integer.toString(Gathering.LIMIT);
            assertThat(task.getOutput())
                    .map(sent -> (String) ((StreamRecord<?>) sent).getValue())
                    .containsExactly(full, full, full, "5");
        }
    }

    /** Large elements are not gathered beyond a number of bytes [PF10]. */
    @Test
    void elements_ofManyBytes_areHandedOverAtOnce() throws Exception {
        arrive(Gathering.BYTES_LIMIT - 1);
        assertThat(handedOver).isEmpty();

        arrive(1);
        arrive(Gathering.BYTES_LIMIT - 1);

        assertThat(handedOver).containsExactly(2);
    }

    /** Before a barrier everything goes, however little is taken at once; the queued mail finds nothing [E4.1]. */
    @Test
    void handOver_leavesNothing() throws Exception {
        takenAtOnce = 2;
        arrive(1);
        arrive(1);
        arrive(1);

        gathering.handOver();
        gathering.handOver();
        mailbox.runAll();

        assertThat(handedOver).containsExactly(2, 1);
    }

    /** What was not taken is handed over by further mails, between which others run [PF5]. */
    @Test
    void elements_thatWereLeft_areHandedOverMailByMail() throws Exception {
        takenAtOnce = 1;
        arrive(1);
        arrive(1);
        mailbox.runOne();
        assertThat(handedOver).isEmpty();

        mailbox.runOne();
        assertThat(handedOver).containsExactly(1);
        mailbox.runOne();

        assertThat(handedOver).containsExactly(1, 1);
        assertThat(mailbox.mails).isEmpty();
    }

    private void arrive(long bytes) throws Exception {
        waiting++;
        gathering.arrived(bytes);
    }

    private int handOver() {
        int taken = Math.min(waiting, takenAtOnce);
        handedOver.add(taken);
        waiting -= taken;
        return waiting;
    }
}
