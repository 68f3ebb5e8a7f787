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

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Semaphore;

/**
 * A process that appends records without end and prints the number of each one once it is acknowledged, until it is killed.
 * Started by {@link EmbeddedStoreCrashTest}.
 */
final class CrashingWriter {
    private static final int OUTSTANDING = 50;

    private CrashingWriter() {}

    /** Arguments: the store's folder, the first record number. */
    public static void main(String[] arguments) throws Exception {
        PrintStream acknowledged = new PrintStream(System.out, true);
        ActionStateStore store = new EmbeddedActionStateStore(
                StoreTesting.embedded(Path.of(arguments[0])), StoreTesting.smallSegments(20_000));
        store.open(StoreAttempt.opening("sub", StoreAttempt.ALL, StoreOpening.Restored.NONE));
        Semaphore places = new Semaphore(OUTSTANDING);
        for (int number = Integer.parseInt(arguments[1]); ; number++) {
            places.acquire();
            int appended = number;
            store.append(List.of(StoreAttempt.record(5, 1, number))).thenRun(() -> {
                acknowledged.println(appended);
                places.release();
            });
        }
    }
}
