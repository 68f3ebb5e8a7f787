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

import io.github.flinkagents.subagent.protocol.OnMailboxThread;
import org.apache.flink.api.common.operators.MailboxExecutor;

/**
 * Gathers the elements that Flink delivers one right after the other, so that they cross the border together: a crossing
 * costs as much as a small action, and gives the interpreter away twice.
 *
 * <p>Nothing waits for an element that has not come. While something is gathered, one mail after the other looks whether Flink has
 * delivered an element since the mail before; between two mails it delivers one if it has one. If not, or when a limit is reached,
 * what was gathered is handed over. The first mail can tell nothing: Flink runs it behind the very element that it was sent for.
 * Marks and barriers must not overtake what is gathered: their owner calls {@link #handOver} first.
 */
@OnMailboxThread
final class Gathering {
    /** How many elements are handed over together at most. */
    static final int LIMIT = 64;
    /** How many bytes of elements are gathered at most, before the last one. */
    static final int BYTES_LIMIT = 1 << 18;

    private final MailboxExecutor mailbox;
    private final HandOver step;
    private int gathered;
    private long gatheredBytes;
    private boolean isLooking;
    private boolean hasOneArrived;

    Gathering(MailboxExecutor mailbox, HandOver step) {
        this.mailbox = mailbox;
        this.step = step;
    }

    /** Notes an element of so many bytes that the owner has kept for {@link HandOver}. */
    void arrived(long bytes) throws Exception {
        gathered++;
        gatheredBytes += bytes;
        hasOneArrived = true;
        if (gathered >= LIMIT || gatheredBytes >= BYTES_LIMIT) {
            handOverSome();
        }
        if (gathered > 0 && !isLooking) {
            look();
        }
    }

    /** Hands over everything that is gathered. */
    void handOver() throws Exception {
        while (gathered > 0) {
            handOverSome();
        }
    }

    private void handOverSome() throws Exception {
        gathered = step.run();
        if (gathered == 0) {
            gatheredBytes = 0;
        }
    }

    private void look() {
        isLooking = true;
        mailbox.execute(this::lookAgain, "Hand over what has arrived");
    }

    private void lookAgain() throws Exception {
        isLooking = false;
        if (gathered > 0 && !hasOneArrived) {
            handOverSome();
        }
        hasOneArrived = false;
        if (gathered > 0) {
            look();
        }
    }

    /** Hands over what the owner keeps, or the first part of it. */
    interface HandOver {
        /** Returns how many elements are left. */
        int run() throws Exception;
    }
}
