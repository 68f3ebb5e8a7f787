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
package io.github.flinkagents.subagent.store;

import io.github.flinkagents.subagent.protocol.ErrorCode;
import org.jspecify.annotations.Nullable;

/** The store failed; the message names the thing, the value and the remedy. */
public final class StoreException extends Exception {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    public StoreException(ErrorCode code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public StoreException(ErrorCode code, String message) {
        this(code, message, null);
    }

    /** The kind of failure. */
    public ErrorCode code() {
        return code;
    }

    /** Whether a restart of the task may help. */
    public boolean retryable() {
        return code.retryable();
    }
}
