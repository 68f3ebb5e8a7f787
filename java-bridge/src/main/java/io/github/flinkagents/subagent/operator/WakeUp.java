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
import org.jspecify.annotations.Nullable;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Brings the mailbox thread back to what waits for it: any number of calls before it comes make one mail.
 *
 * <p>Threads of calls hold it, and a call that nobody waits for any more may run on for long. So nothing of the task can be
 * reached from here any more once it is closed.
 */
@OnAnyThread
final class WakeUp {
    private final AtomicBoolean isScheduled = new AtomicBoolean();
    /** Null once closed. */
    private volatile @Nullable Sleeper sleeper;

    WakeUp(MailboxExecutor mailbox, RunnableWithException drain) {
        this.sleeper = new Sleeper(mailbox, drain);
    }

    private record Sleeper(MailboxExecutor mailbox, RunnableWithException drain) {}

    /** Schedules one drain; what was made available before this call is seen by it. */
    void wake() {
        Sleeper woken = sleeper;
        if (woken == null || !isScheduled.compareAndSet(false, true)) {
            return;
        }
        try {
            woken.mailbox.execute(this::run, "Take completions and acknowledgements");
        } catch (RejectedExecutionException taskEnds) {
            // The task has closed its mailbox: what waits is for nobody any more.
            close();
        }
    }

    /** Ignores later calls, and a mail that is still queued. */
    void close() {
        sleeper = null;
    }

    private void run() throws Exception {
        // First, so that what comes while the drain runs is not missed.
        isScheduled.set(false);
        Sleeper woken = sleeper;
        if (woken != null) {
            woken.drain.run();
        }
    }
}
