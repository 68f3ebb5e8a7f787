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

import java.util.Locale;

/** Why a result failed, for code that decides by it. */
public enum FailureReason {
    /** The sub-agent failed, or could not answer. */
    ERROR,
    /** It took too long. */
    TIMEOUT,
    /** It was cancelled. */
    CANCELLED,
    /** A limit was reached. */
    LIMIT;

    /** The name by which Python knows the reason. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
