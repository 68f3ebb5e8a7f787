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
package io.github.flinkagents.subagent.subagents;

import io.github.flinkagents.subagent.api.RunStatus;
import io.github.flinkagents.subagent.api.SubagentResult;
import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** What goes back to Python, as JSON values (decision 0008). */
record Answer(Map<String, @Nullable Object> members) {
    /** There is nothing to tell. */
    static final Answer DONE = of("done", true);

    private static final String ROOT = "result";

    /** A result; one that JSON cannot express becomes a failed one that says where. */
    static Answer of(@Nullable SubagentResult result) {
        if (result == null) {
            throw new IllegalStateException(
                    "the sub-agent returned null; return SubagentResult.ok(null) for an answer without value");
        }
        if (!result.isSuccess()) {
            return failure(result);
        }
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("ok", true);
        try {
            Object rendered = Rendering.render(result.value(), result.isTyped(), ROOT);
            members.put("value", Normalization.normalize(rendered, ROOT));
        } catch (NotExpressibleException refused) {
            return failure(SubagentResult.error(String.valueOf(refused.getMessage())));
        }
        return of(ROOT, members);
    }

    /** The reference of a run, or the outcome itself; a reference that JSON cannot express is the author's mistake. */
    static Answer ofSubmit(@Nullable Object returned) throws NotExpressibleException {
        return returned instanceof SubagentResult result
                ? of(result)
                : of("run", Normalization.normalize(returned, "run"));
    }

    /** A status. */
    static Answer of(@Nullable RunStatus status) throws NotExpressibleException {
        if (status == null) {
            throw new IllegalStateException("the sub-agent returned null for a status; return RunStatus.of(...)");
        }
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("state", status.state().name());
        members.put("reason", status.reason().isEmpty() ? null : status.reason());
        members.put(
                "retry_after_ms", status.retryAfter().map(Duration::toMillis).orElse(null));
        members.put("run", Normalization.normalize(status.run(), "run"));
        return of("status", members);
    }

    /** An exception that escaped. */
    static Answer raised(Throwable failure) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("type", failure.getClass().getName());
        String message = failure.getMessage();
        members.put(
                "message", message == null ? "" : SubagentResult.error(message).errorMessage());
        return of("raised", members);
    }

    private static Answer failure(SubagentResult failed) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("ok", false);
        members.put("error", failed.errorMessage());
        members.put("reason", failed.reason().text());
        return of(ROOT, members);
    }

    private static Answer of(String name, @Nullable Object value) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put(name, value);
        return new Answer(members);
    }
}
