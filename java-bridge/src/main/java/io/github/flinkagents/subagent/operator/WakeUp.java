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

import io.github.flinkagents.subagent.protocol.OnAnyThread;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.util.function.RunnableWithException;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Brings the mailbox thread back to what waits for it: any number of calls before it comes make one mail. */
@OnAnyThread
final class WakeUp {
    private final MailboxExecutor mailbox;
    private final RunnableWithException drain;
    private final AtomicBoolean isScheduled = new AtomicBoolean();
    private volatile boolean isClosed;

    WakeUp(MailboxExecutor mailbox, RunnableWithException drain) {
        this.mailbox = mailbox;
        this.drain = drain;
    }

    /** Schedules one drain; what was made available before this call is seen by it. */
    void wake() {
        if (isClosed || !isScheduled.compareAndSet(false, true)) {
            return;
        }
        try {
            mailbox.execute(this::run, "Take completions and acknowledgements");
        } catch (RejectedExecutionException taskEnds) {
            // The task has closed its mailbox: what waits is for nobody any more.
            isClosed = true;
        }
    }

    /** Ignores later calls, and a mail that is still queued. */
    void close() {
        isClosed = true;
    }

    private void run() throws Exception {
        // First, so that what comes while the drain runs is not missed.
        isScheduled.set(false);
        if (!isClosed) {
            drain.run();
        }
    }
}
