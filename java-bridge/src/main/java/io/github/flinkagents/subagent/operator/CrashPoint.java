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

import java.util.Locale;

/** A place at which a test may have the process die (decision 0011). */
enum CrashPoint {
    BEFORE_OPEN,
    AFTER_OPEN,
    BEFORE_APPEND,
    AFTER_APPEND,
    BEFORE_ACKNOWLEDGEMENT,
    AFTER_ACKNOWLEDGEMENT,
    BEFORE_RELEASE,
    AFTER_RELEASE,
    BEFORE_SNAPSHOT,
    AFTER_SNAPSHOT,
    /** This one and those that follow are passed on the Python side. */
    BEFORE_CALL_START,
    AFTER_CALL_START,
    BEFORE_CALL_END,
    AFTER_CALL_END;

    /** The name by which it is armed. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
