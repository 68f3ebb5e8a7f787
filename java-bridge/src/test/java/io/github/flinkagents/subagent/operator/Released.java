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

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.function.Supplier;

/** Whether the collector can have an object. */
final class Released {
    private static final int TRIES = 100;
    private static final long TRY_MILLIS = 100;

    private Released() {}

    /** Tells whether what is made can be collected; the maker keeps no reference that is not part of what is tested. */
    static boolean isReleased(Supplier<Object> maker) throws InterruptedException {
        ReferenceQueue<Object> collected = new ReferenceQueue<>();
        WeakReference<Object> made = new WeakReference<>(maker.get(), collected);
        // Each try waits for the collector for a moment.
        for (int tries = 0; tries < TRIES && made.get() != null; tries++) {
            System.gc();
            collected.remove(TRY_MILLIS);
        }
        return made.get() == null;
    }
}
