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

/** What goes back to Python: one member of JSON values (decision 0008). */
@FunctionalInterface
interface Answer {
    /** There is nothing to tell. */
    Answer DONE = rendering -> member("done", true);

    /** How messages name a result. */
    String ROOT = "result";

    /** Returns the member; reads the developer's objects, which may throw anything. */
    Map<String, @Nullable Object> member(Rendering rendering) throws Exception;

    /** A result; one that JSON cannot express becomes a failed one that says where. */
    static Answer of(@Nullable SubagentResult result) {
        if (result == null) {
            throw new IllegalStateException(
                    "the sub-agent returned null; return SubagentResult.ok(null) for an answer without value");
        }
        return rendering -> member(ROOT, result.isSuccess() ? success(result, rendering) : failure(result));
    }

    /** The reference of a run, or the outcome itself; a reference that JSON cannot express is the author's mistake. */
    static Answer ofSubmit(@Nullable Object returned) {
        return returned instanceof SubagentResult result
                ? of(result)
                : rendering -> member("run", Normalization.normalize(returned, "run"));
    }

    /** A status. */
    static Answer of(@Nullable RunStatus status) {
        if (status == null) {
            throw new IllegalStateException("the sub-agent returned null for a status; return RunStatus.of(...)");
        }
        return rendering -> {
            Map<String, @Nullable Object> members = new LinkedHashMap<>();
            members.put("state", status.state().name());
            members.put("reason", status.reason().isEmpty() ? null : status.reason());
            members.put(
                    "retry_after_ms",
                    status.retryAfter().map(Duration::toMillis).orElse(null));
            members.put("run", Normalization.normalize(status.run(), "run"));
            return member("status", members);
        };
    }

    /** An exception that escaped. */
    static Map<String, @Nullable Object> raised(Throwable failure) {
        String message = failure.getMessage();
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("type", failure.getClass().getName());
        members.put(
                "message", message == null ? "" : SubagentResult.error(message).errorMessage());
        return member("raised", members);
    }

    private static Map<String, @Nullable Object> success(SubagentResult result, Rendering rendering) {
        try {
            Object rendered = rendering.render(result.value(), result.isTyped(), ROOT);
            Map<String, @Nullable Object> members = new LinkedHashMap<>();
            members.put("ok", true);
            members.put("value", Normalization.normalize(rendered, ROOT));
            return members;
        } catch (NotExpressibleException refused) {
            return failure(SubagentResult.error(String.valueOf(refused.getMessage())));
        }
    }

    private static Map<String, @Nullable Object> failure(SubagentResult failed) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("ok", false);
        members.put("error", failed.errorMessage());
        members.put("reason", failed.reason().text());
        return members;
    }

    private static Map<String, @Nullable Object> member(String name, @Nullable Object value) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put(name, value);
        return members;
    }
}
