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
import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.apache.flink.util.function.RunnableWithException;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.ScheduledFuture;

/**
 * The engine's heap of deadlines behind one processing-time timer. The engine asks for its earliest deadline; a timer that
 * is registered for an earlier time than the last request stays and, when it fires, is moved on.
 */
@OnMailboxThread
final class DeadlineTimer {
    private final ProcessingTimeService timeService;
    private final RunnableWithException due;
    private @Nullable ScheduledFuture<?> timer;
    private long registered = Long.MAX_VALUE;
    private long requested = Long.MAX_VALUE;

    DeadlineTimer(ProcessingTimeService timeService, RunnableWithException due) {
        this.timeService = timeService;
        this.due = due;
    }

    /** Runs the action at this time or soon after; replaces an earlier request. */
    void set(long deadline) {
        requested = deadline;
        if (deadline < registered) {
            cancel();
            register();
        }
    }

    /** Forgets the request. */
    void close() {
        cancel();
        requested = Long.MAX_VALUE;
    }

    private void register() {
        registered = requested;
        timer = timeService.registerTimer(registered, time -> fire());
    }

    private void fire() throws Exception {
        timer = null;
        registered = Long.MAX_VALUE;
        if (requested <= timeService.getCurrentProcessingTime()) {
            requested = Long.MAX_VALUE;
            due.run();
        } else if (requested < Long.MAX_VALUE) {
            register();
        }
    }

    private void cancel() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
            registered = Long.MAX_VALUE;
        }
    }
}
