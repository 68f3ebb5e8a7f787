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

import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * One invocation of a sub-agent. All but attempt and deadline are the same when an invocation is repeated.
 *
 * @param prompt what the caller gave to {@code submit}: null, {@link Boolean}, {@link String}, {@link Long},
 *     {@link java.math.BigInteger} beyond 64 bits, {@link Double}, {@code List<Object>} or {@code Map<String, Object>} of these
 * @param sessionId the conversation that the call belongs to
 * @param callId identifies the invocation; send it as the idempotency key
 * @param run what {@link AsyncSubagent#submit} returned for this run; null when nothing is known but the call id
 * @param attempt counts the attempts since the task started, from 1
 * @param deadline when the caller stops waiting; empty: never
 * @param traceParent W3C {@code traceparent}: a trace per session, a span per call
 */
public record SubagentRequest(
        Object prompt,
        String sessionId,
        String callId,
        Object run,
        int attempt,
        Optional<Instant> deadline,
        String traceParent) {
    public SubagentRequest {
        Objects.requireNonNull(sessionId, "sessionId");
        Objects.requireNonNull(callId, "callId");
        Objects.requireNonNull(deadline, "deadline");
        Objects.requireNonNull(traceParent, "traceParent");
    }
}
