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

import java.util.concurrent.TimeUnit;

/** A moment after which to stop waiting. */
final class Deadline {
    private final long millis;
    private long end;

    private Deadline(long millis) {
        this.millis = millis;
        restart();
    }

    static Deadline afterMillis(long millis) {
        return new Deadline(millis);
    }

    /** Grants the whole time again, from now on. */
    void restart() {
        end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    }

    boolean hasPassed() {
        return System.nanoTime() - end > 0;
    }
}
