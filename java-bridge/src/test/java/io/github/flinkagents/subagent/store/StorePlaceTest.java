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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.opening;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Which store is found, and what happens when it is not the one of the checkpoint [S3.1]. */
class StorePlaceTest {
    private static final StoreOpening.Restored FRESH = StoreOpening.Restored.NONE;

    private final List<StoreAttempt> attempts = new ArrayList<>();

    @TempDir
    private Path folder;

    @AfterEach
    void closeAll() {
        attempts.forEach(StoreAttempt::close);
    }

    /** A restore on a machine without the store fails, naming store, folder and remedy, and creates nothing [S3.1]. */
    @Test
    void restoreWithoutTheStore_isLost() throws Exception {
        StoreOpening.Restored checkpoint =
                open(StoreTesting.embedded(folder.resolve("a")), FRESH).checkpoint();

        StoreException failure = failureOfOpening(StoreTesting.embedded(folder.resolve("b")), checkpoint);

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_LOST);
        assertThat(failure)
                .hasMessageContaining(checkpoint.storeId())
                .hasMessageContaining(folder.resolve("b").toString())
                .hasMessageContaining("holds none")
                .hasMessageContaining("shared file system")
                .hasMessageContaining("store.allow-lost-tail");
        assertThat(folder.resolve("b")).doesNotExist();
    }

    /** A restore that finds another store in the place fails as well, naming both [S3.1]. */
    @Test
    void restoreWithAnotherStore_isLost() throws Exception {
        StoreOpening.Restored checkpoint =
                open(StoreTesting.embedded(folder.resolve("a")), FRESH).checkpoint();
        String other = open(StoreTesting.embedded(folder.resolve("b")), FRESH)
                .wholeTail()
                .storeId();

        StoreException failure = failureOfOpening(StoreTesting.embedded(folder.resolve("b")), checkpoint);

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_LOST);
        assertThat(failure).hasMessageContaining(checkpoint.storeId()).hasMessageContaining(other);
    }

    /** A loss that is allowed starts a new store, whose own records then survive as usual [S1.8, S3.1]. */
    @Test
    void allowedLoss_startsAnew() throws Exception {
        StoreSettings elsewhere = StoreTesting.allowingLostTail(folder.resolve("b"));
        StoreAttempt first = open(StoreTesting.embedded(folder.resolve("a")), FRESH);
        first.record(record(5, 1, 1));
        StoreOpening.Restored checkpoint = first.checkpoint();

        StoreAttempt anew = open(elsewhere, checkpoint);

        assertThat(anew.tail()).isEmpty();
        StoreOpening.Restored later = anew.checkpoint();
        List<JournalRecord> recorded = anew.record(record(5, 1, 2));
        assertThat(open(StoreTesting.embedded(folder.resolve("b")), later).tail())
                .isEqualTo(recorded);
    }

    /** A checkpoint taken with the memory store does not lead into an embedded one by itself [S3.1, S4.1]. */
    @Test
    void checkpointOfTheMemoryStore_isLost() throws Exception {
        StoreOpening.Restored checkpoint = StoreAttempt.open(new MemoryActionStateStore(), opening("sub", ALL, FRESH))
                .checkpoint();

        assertThat(failureOfOpening(StoreTesting.embedded(folder), checkpoint).code())
                .isEqualTo(ErrorCode.STORE_LOST);
        assertThat(open(StoreTesting.allowingLostTail(folder), checkpoint).tail())
                .isEmpty();
    }

    /** A store that was moved with all its files is the same store [S3.1]. */
    @Test
    void movedStore_isFound() throws Exception {
        StoreAttempt first = open(StoreTesting.embedded(folder.resolve("a")), FRESH);
        StoreOpening.Restored checkpoint = first.checkpoint();
        List<JournalRecord> recorded = first.record(record(5, 1, 1));
        first.close();
        Files.move(folder.resolve("a"), folder.resolve("b"));

        assertThat(open(StoreTesting.embedded(folder.resolve("b")), checkpoint).tail())
                .isEqualTo(recorded);
    }

    /** Subtasks that create the store at the same time agree on one id [S3.1]. */
    @Test
    void racingSubtasks_agreeOnTheId() {
        CyclicBarrier start = new CyclicBarrier(8);

        List<CompletableFuture<String>> found = IntStream.range(0, 8)
                .mapToObj(i -> CompletableFuture.supplyAsync(() -> find(start), task -> new Thread(task).start()))
                .toList();

        assertThat(found.stream().map(CompletableFuture::join).distinct()).hasSize(1);
        assertThat(folder.resolve("job")).isDirectoryNotContaining("glob:.*");
    }

    /** An id file that was changed is named instead of being replaced [S1.4]. */
    @Test
    void damagedId_isNamed() throws Exception {
        open(StoreTesting.embedded(folder), FRESH);
        Path file = StoreTesting.operatorFolder(folder).resolve("STORE-ID");
        Files.writeString(file, "store ?");

        StoreException failure = failureOfOpening(StoreTesting.embedded(folder), FRESH);

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_CORRUPT);
        assertThat(failure).hasMessageContaining(file.toString());
    }

    /** A folder that lost its id is not taken for a new store [S3.1]. */
    @Test
    void folderWithoutId_isNotTakenOver() throws Exception {
        open(StoreTesting.embedded(folder), FRESH);
        Files.delete(StoreTesting.operatorFolder(folder).resolve("STORE-ID"));

        StoreException failure = failureOfOpening(StoreTesting.embedded(folder), FRESH);

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_CORRUPT);
        assertThat(failure)
                .hasMessageContaining(StoreTesting.operatorFolder(folder).toString())
                .hasMessageContaining("STORE-ID");
    }

    private String find(CyclicBarrier start) {
        try {
            start.await();
            return StorePlace.find(StoreTesting.embedded(folder), opening("sub", ALL, FRESH))
                    .storeId();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private StoreException failureOfOpening(StoreSettings settings, StoreOpening.Restored restored) {
        return catchThrowableOfType(StoreException.class, () -> open(settings, restored));
    }

    private StoreAttempt open(StoreSettings settings, StoreOpening.Restored restored) throws StoreException {
        StoreAttempt attempt = StoreAttempt.open(new EmbeddedActionStateStore(settings), opening("sub", ALL, restored));
        attempts.add(attempt);
        return attempt;
    }
}
