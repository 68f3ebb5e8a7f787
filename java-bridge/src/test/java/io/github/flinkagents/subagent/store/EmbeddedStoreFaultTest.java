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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.opening;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Disks that are full, failing or not there. */
class EmbeddedStoreFaultTest {
    @TempDir
    private Path folder;

    /** A full disk fails the append and all later ones, says so with the remedy, and loses nothing acknowledged [S1.1, S1.2, S3.1]. */
    @Test
    void fullDisk_failsEveryLaterAppend() throws StoreException {
        AtomicInteger opened = new AtomicInteger();
        SegmentWriter.ChannelOpener fullFromTheSecond = file -> opened.getAndIncrement() == 0
                ? SegmentWriter.Setup.DEFAULT.opener().open(file)
                : FileChannel.open(Path.of("/dev/full"), StandardOpenOption.WRITE);
        List<JournalRecord> acknowledged;
        try (StoreAttempt attempt = open(new SegmentWriter.Setup(1, fullFromTheSecond))) {
            acknowledged = attempt.record(record(5, 1, 1));

            StoreException failure = failureOf(attempt.append(record(5, 1, 2)));

            assertThat(failure.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE);
            assertThat(failure.retryable()).isTrue();
            assertThat(failure).hasMessageContaining("No space left").hasMessageContaining("Free space");
            assertThat(failure).hasMessageContaining(folder.toString());
            assertThat(failureOf(attempt.append(record(5, 1, 3)))).isSameAs(failure);
        }
        assertThat(readAgain()).isEqualTo(acknowledged);
    }

    /** A write that ends in the middle of a record leaves a log that can be read up to there [S1.1, S1.4]. */
    @Test
    void writeInPart_leavesAReadableLog() throws StoreException {
        AtomicBoolean isFull = new AtomicBoolean();
        List<JournalRecord> acknowledged;
        try (StoreAttempt attempt = open(faulty(file -> new FaultyChannel(file) {
            @Override
            void beforeWrite(ByteBuffer source) throws IOException {
                if (isFull.get()) {
                    writeThrough(source.slice(0, source.remaining() / 2));
                    throw new IOException("No space left on device");
                }
            }
        }))) {
            acknowledged = attempt.record(record(5, 1, 1));
            isFull.set(true);

            failureOf(attempt.append(record(5, 1, 2)));
        }
        assertThat(readAgain()).isEqualTo(acknowledged);
    }

    /** Bytes that were written but could not be forced are not acknowledged, nor is anything after them [S1.1, S1.2]. */
    @Test
    void failedForce_acknowledgesNothing() throws StoreException {
        AtomicBoolean isFailing = new AtomicBoolean();
        try (StoreAttempt attempt = open(faulty(file -> new FaultyChannel(file) {
            @Override
            void beforeForce() throws IOException {
                if (isFailing.getAndSet(false)) {
                    throw new IOException("Input/output error");
                }
            }
        }))) {
            isFailing.set(true);

            StoreException failure = failureOf(attempt.append(record(5, 1, 1)));

            assertThat(failure).hasMessageContaining("Input/output error").hasMessageContaining("Check the disk");
            assertThat(failureOf(attempt.append(record(5, 1, 2)))).isSameAs(failure);
        }
    }

    /** A defect that is no file error fails the appends as well, instead of leaving them unanswered [S1.1]. */
    @Test
    void dyingCommitThread_failsTheAppends() throws StoreException {
        AtomicBoolean isBroken = new AtomicBoolean();
        try (StoreAttempt attempt = open(faulty(file -> new FaultyChannel(file) {
            @Override
            void beforeForce() {
                if (isBroken.get()) {
                    throw new IllegalStateException("broken");
                }
            }
        }))) {
            isBroken.set(true);

            assertThat(failureOf(attempt.append(record(5, 1, 1)))).hasRootCauseMessage("broken");
            assertThat(failureOf(attempt.append(record(5, 1, 2)))).hasRootCauseMessage("broken");
        }
    }

    /** A disk that fails while the store is opened is an error of the opening [S3.1]. */
    @Test
    void fullDiskAtOpen_failsTheOpening() {
        SegmentWriter.Setup setup = faulty(file -> FileChannel.open(Path.of("/dev/full"), StandardOpenOption.WRITE));

        StoreException failure = catchThrowableOfType(StoreException.class, () -> open(setup));

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE);
        assertThat(failure).hasMessageContaining("No space left");
    }

    /** A file in the place of the store's folder is named, with the option [S3.1]. */
    @Test
    void fileInPlaceOfTheFolder_isNamed() throws IOException {
        Path file = Files.createFile(folder.resolve("store"));
        ActionStateStore store = new EmbeddedActionStateStore(StoreTesting.embedded(file));

        StoreException failure = catchThrowableOfType(
                StoreException.class, () -> StoreAttempt.open(store, opening("sub", ALL, StoreOpening.Restored.NONE)));

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE);
        assertThat(failure).hasMessageContaining(file.toString()).hasMessageContaining("store.embedded.dir");
        assertThat(failure).hasMessageContaining("a file stands where a folder is needed");
    }

    /** A folder that nobody may create, not even the administrator, is named with the option [S3.1]. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void folderThatNobodyMayCreate_isNamed() {
        Path forbidden = Path.of("/sys/agents/store");
        ActionStateStore store = new EmbeddedActionStateStore(StoreTesting.embedded(forbidden));

        StoreException failure = catchThrowableOfType(
                StoreException.class, () -> StoreAttempt.open(store, opening("sub", ALL, StoreOpening.Restored.NONE)));

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE);
        assertThat(failure).hasMessageContaining(forbidden.toString()).hasMessageContaining("store.embedded.dir");
        assertThat(failure.getMessage()).containsAnyOf("lacks the right", "mounted read-only");
    }

    /** A store that is deleted under a running job fails its next append and says why [S1.1]. */
    @Test
    void storeDeletedWhileInUse_failsTheNextAppend() throws Exception {
        try (StoreAttempt attempt = open(SegmentWriter.Setup.DEFAULT)) {
            Files.move(StoreTesting.operatorFolder(folder), folder.resolve("moved away"));

            StoreException failure = failureOf(attempt.append(record(5, 1, 1)));

            assertThat(failure.code()).isEqualTo(ErrorCode.STORE_LOST);
            assertThat(failure).hasMessageContaining("deleted").hasMessageContaining("store.embedded.dir");
        }
    }

    private static SegmentWriter.Setup faulty(SegmentWriter.ChannelOpener opener) {
        return new SegmentWriter.Setup(Long.MAX_VALUE, opener);
    }

    private StoreAttempt open(SegmentWriter.Setup setup) throws StoreException {
        return StoreAttempt.open(
                new EmbeddedActionStateStore(StoreTesting.embedded(folder), setup),
                opening("sub", ALL, StoreOpening.Restored.NONE));
    }

    private List<JournalRecord> readAgain() throws StoreException {
        try (StoreAttempt attempt = open(SegmentWriter.Setup.DEFAULT)) {
            return attempt.tail();
        }
    }

    private static StoreException failureOf(CompletableFuture<Void> append) {
        ExecutionException failure = catchThrowableOfType(
                ExecutionException.class, () -> append.get(StoreTesting.DEADLINE.toSeconds(), TimeUnit.SECONDS));
        assertThat(failure).hasCauseInstanceOf(StoreException.class);
        return (StoreException) failure.getCause();
    }
}
