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

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** What the store tests share. */
final class StoreTesting {
    /** How long a future may take before a test gives up; nothing waits for it to pass. */
    static final Duration DEADLINE = Duration.ofSeconds(30);

    private StoreTesting() {}

    static StoreSettings embedded(Path folder) {
        return new StoreSettings(StoreSettings.Kind.EMBEDDED, folder, OnCorrupt.FAIL, false, 2, null);
    }

    static StoreSettings skippingCorrupt(Path folder) {
        return new StoreSettings(StoreSettings.Kind.EMBEDDED, folder, OnCorrupt.SKIP, false, 2, null);
    }

    static StoreSettings allowingLostTail(Path folder) {
        return new StoreSettings(StoreSettings.Kind.EMBEDDED, folder, OnCorrupt.FAIL, true, 2, null);
    }

    /** Segments so small that each holds few records, on the real file system. */
    static SegmentWriter.Setup smallSegments(long bytes) {
        return new SegmentWriter.Setup(bytes, SegmentWriter.Setup.DEFAULT.opener());
    }

    /** The folder of the operator that {@link StoreAttempt#opening} names. */
    static Path operatorFolder(Path folder) {
        return folder.resolve("job").resolve("agent-x");
    }

    /** What an append failed with. */
    static StoreException failureOf(CompletableFuture<Void> append) {
        ExecutionException failure = catchThrowableOfType(
                ExecutionException.class, () -> append.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
        assertThat(failure).hasCauseInstanceOf(StoreException.class);
        return (StoreException) failure.getCause();
    }
}
