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
package io.github.flinkagents.subagent.api;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * What became of a run of an asynchronous sub-agent, as its service tells.
 *
 * @param state how far it is
 * @param reason what the service says about it, for a failed run the failure; may be empty
 * @param retryAfter when the service wants to be asked again; empty: whenever the caller likes
 * @param run for {@link AsyncSubagent#reconcile}: what the lost answer of the submit would have returned; null when the call
 *     id says all
 */
public record RunStatus(State state, String reason, Optional<Duration> retryAfter, Object run) {
    public RunStatus {
        Objects.requireNonNull(state, "state");
        Objects.requireNonNull(reason, "reason");
        Objects.requireNonNull(retryAfter, "retryAfter");
    }

    /** Makes a status without reason and hint. */
    public static RunStatus of(State state) {
        return of(state, "");
    }

    /** Makes a status with a reason. */
    public static RunStatus of(State state, String reason) {
        return new RunStatus(state, reason, Optional.empty(), null);
    }

    /** Adds the service's wish when to be asked again. */
    public RunStatus askAgainIn(Duration hint) {
        return new RunStatus(state, reason, Optional.of(hint), run);
    }

    /** Adds how the service names the run. */
    public RunStatus ofRun(Object reference) {
        return new RunStatus(state, reason, retryAfter, reference);
    }

    /** Whether the service knows the run, so that after a crash its request must not be sent again. */
    public boolean isKnown() {
        return state != State.NOT_STARTED || run != null;
    }

    /** How far a run is. */
    public enum State {
        /** The service knows nothing of it; or, with {@link RunStatus#run}, has accepted it and not begun. */
        NOT_STARTED,
        /** It is at work. */
        RUNNING,
        /** It has a result to be fetched. */
        COMPLETED,
        /** It has failed, and has no result. */
        FAILED,
        /** Somebody has cancelled it. */
        CANCELLED;

        /** Whether the run has ended, so that nobody asks again. */
        public boolean isTerminal() {
            return this == COMPLETED || this == FAILED || this == CANCELLED;
        }
    }
}
