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

import java.util.Objects;

/**
 * The outcome of a sub-agent call: a value, or a failure as data.
 *
 * <p>A value is what JSON can express: null, booleans, text, numbers, {@code List}s, arrays, {@code Map}s with text keys. What
 * JSON cannot express makes the result a failed one, which names the place ({@code result.a[0].b}).
 */
public final class SubagentResult {
    private final boolean isSuccess;
    private final boolean isTyped;
    private final Object value;
    private final String errorMessage;
    private final FailureReason reason;

    private SubagentResult(
            boolean isSuccess, boolean isTyped, Object value, String errorMessage, FailureReason reason) {
        this.isSuccess = isSuccess;
        this.isTyped = isTyped;
        this.value = value;
        this.errorMessage = errorMessage;
        this.reason = reason;
    }

    /**
     * Makes a success.
     *
     * @param value a JSON value, or a record or bean, which becomes a map of its components; may be null
     */
    public static SubagentResult ok(Object value) {
        return new SubagentResult(true, false, value, null, null);
    }

    /**
     * Makes a success whose value holds records and beans anywhere, as in {@code List<Quote>}: each becomes a map of its
     * components. Dates and times become ISO text, {@code BigDecimal}s text, constants of enums their names.
     *
     * @param value the value; may be null
     */
    public static SubagentResult typed(Object value) {
        return new SubagentResult(true, true, value, null, null);
    }

    /** Makes a failed result with the reason {@link FailureReason#ERROR}; a text beyond 4 KiB is cut. */
    public static SubagentResult error(String message) {
        return error(message, FailureReason.ERROR);
    }

    /** Makes a failed result; a text beyond 4 KiB is cut. */
    public static SubagentResult error(String message, FailureReason reason) {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(reason, "reason");
        return new SubagentResult(false, false, null, ErrorText.capped(message), reason);
    }

    /** Makes a failed result of the class and message of an exception. */
    public static SubagentResult error(Throwable failure) {
        return error(ErrorText.of(failure.getClass().getName(), failure.getMessage()));
    }

    /** Whether it is a success. */
    public boolean isSuccess() {
        return isSuccess;
    }

    /** Whether the value may hold records and beans anywhere. */
    public boolean isTyped() {
        return isTyped;
    }

    /** The value of a success; null in a failed result. */
    public Object value() {
        return value;
    }

    /** What failed, at most 4 KiB; null in a success. */
    public String errorMessage() {
        return errorMessage;
    }

    /** Why it failed; null in a success. */
    public FailureReason reason() {
        return reason;
    }
}
