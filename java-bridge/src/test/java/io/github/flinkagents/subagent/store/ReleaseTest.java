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
import io.github.flinkagents.subagent.protocol.KeyGroups;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.opening;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** What is deleted, what stays, and what a restore says that comes too late [S1.8]. Each record has a segment of its own. */
class ReleaseTest {
    private static final StoreOpening.Restored FRESH = StoreOpening.Restored.NONE;
    private static final KeyGroups LOWER = new KeyGroups(0, 63);
    private static final KeyGroups UPPER = new KeyGroups(64, 127);

    private final List<StoreAttempt> attempts = new ArrayList<>();

    @TempDir
    private Path folder;

    @AfterEach
    void closeAll() {
        attempts.forEach(StoreAttempt::close);
    }

    /** Own segments before the oldest retained position go, later ones stay [S1.8]. */
    @Test
    void ownSegments_goBeforeTheOldestRetainedPosition() throws Exception {
        StoreAttempt attempt = open(ALL, FRESH);
        attempt.record(record(5, 1, 1));
        attempt.record(record(5, 1, 2));
        StoreOpening.Restored retained = attempt.checkpoint();
        List<JournalRecord> behind = new ArrayList<>(attempt.record(record(5, 1, 3)));

        behind.addAll(release(attempt, retained, 4));

        assertThat(DurableFiles.names(operator().resolve("writer-1"))).hasSize(4);
        assertThat(open(ALL, retained).tail()).isEqualTo(behind);
    }

    /** Without a release nothing is deleted, however many checkpoints were taken [S1.8]. */
    @Test
    void nothing_goesWithoutARelease() throws Exception {
        StoreAttempt attempt = open(ALL, FRESH);
        List<JournalRecord> recorded = new ArrayList<>();
        for (int number = 1; number <= 5; number++) {
            recorded.addAll(attempt.record(record(5, 1, number)));
            attempt.checkpoint();
        }

        assertThat(open(ALL, FRESH).tail()).isEqualTo(recorded);
    }

    /** A log that starts exactly at the position is not lost, whatever was deleted before [S1.8]. */
    @Test
    void logThatStartsAtThePosition_isNotLost() throws Exception {
        StoreAttempt attempt = open(ALL, FRESH);
        attempt.record(record(5, 1, 1));
        StoreOpening.Restored retained = attempt.checkpoint();

        List<JournalRecord> behind = release(attempt, retained, 2);

        assertThat(open(ALL, retained).tail()).isEqualTo(behind);
    }

    /** A restore from a checkpoint whose tail was released fails and says what to do [S1.8]. */
    @Test
    void restoreBehindReleasedSegments_isLost() throws Exception {
        StoreAttempt attempt = open(ALL, FRESH);
        StoreOpening.Restored old = attempt.checkpoint();
        attempt.record(record(5, 1, 1));
        StoreOpening.Restored retained = attempt.checkpoint();
        List<JournalRecord> behind = release(attempt, retained, 2);

        assertLost(old, "released or deleted in part");

        assertThat(openAllowingLostTail(old).tail()).isEqualTo(behind);
    }

    /** The folder of a dead attempt goes once later checkpoints cover all its key groups, its fence with it [S1.8]. */
    @Test
    void deadAttempt_goesWhenAllItsKeyGroupsHaveMovedOn() throws Exception {
        StoreAttempt one = open(ALL, FRESH);
        StoreOpening.Restored old = one.checkpoint();
        one.record(record(5, 1, 1), record(100, 1, 1));
        StoreAttempt lower = open(LOWER, old);
        StoreAttempt upper = open(UPPER, old);

        release(lower, lower.checkpoint(), 2);
        assertThat(DurableFiles.names(operator())).contains("fence-1", "cut-1", "writer-1");

        release(upper, upper.checkpoint(), 100, 2);
        assertThat(DurableFiles.names(operator())).doesNotContain("fence-1", "cut-1", "writer-1");
        assertLost(old, "released when later checkpoints completed");
    }

    /** While the oldest retained checkpoint lies in an earlier attempt's log, nothing of either goes [S1.8]. */
    @Test
    void retainedCheckpointOfAnEarlierAttempt_keepsBothLogs() throws Exception {
        StoreAttempt first = open(ALL, FRESH);
        StoreOpening.Restored retained = first.checkpoint();
        List<JournalRecord> behind = new ArrayList<>(first.record(record(5, 1, 1)));
        StoreAttempt second = open(ALL, retained);
        behind.addAll(second.record(record(5, 1, 2)));

        behind.addAll(release(second, retained, 3));

        assertThat(open(ALL, retained).tail()).isEqualTo(behind);
    }

    /** Going back behind an attempt whose log was released is lost, though the older log still stands [S1.8]. */
    @Test
    void gapBetweenOldLogAndNew_isLost() throws Exception {
        StoreAttempt one = open(ALL, FRESH);
        StoreOpening.Restored old = one.checkpoint();
        one.record(record(5, 1, 1));
        StoreAttempt lower = open(LOWER, old);
        lower.record(record(5, 1, 2));
        StoreAttempt lowerAgain = open(LOWER, lower.checkpoint());
        List<JournalRecord> behind = release(lowerAgain, lowerAgain.checkpoint(), 3);

        assertThat(DurableFiles.names(operator())).contains("writer-1").doesNotContain("writer-2");
        assertLost(old, "key group 0");

        // Without the gap's cuts nobody knows what of the older log counts.
        assertThat(openAllowingLostTail(old).tail()).isEqualTo(behind);
    }

    /** A log that somebody deleted is lost, and named [S1.8]. */
    @Test
    void deletedLog_isLost() throws Exception {
        StoreAttempt attempt = open(ALL, FRESH);
        StoreOpening.Restored checkpoint = attempt.checkpoint();
        DurableFiles.deleteFolder(operator().resolve("writer-1"));

        assertLost(checkpoint, "the log of attempt 1");
    }

    /** A submission that released records for its checkpoints cannot start without any of them [S1.8, E5.1]. */
    @Test
    void freshStartAfterARelease_isLost() throws Exception {
        StoreAttempt attempt = open(ALL, FRESH);
        attempt.record(record(5, 1, 1));
        List<JournalRecord> behind = release(attempt, attempt.checkpoint(), 2);

        assertLost(FRESH, "starts without any checkpoint");

        assertThat(openAllowingLostTail(FRESH).tail()).isEqualTo(behind);
    }

    /** A fresh start of another submission is not disturbed by what earlier ones released [S1.8, E5.1]. */
    @Test
    void freshStartOfAnotherSubmission_needsNothing() throws Exception {
        StoreAttempt attempt = open(ALL, FRESH);
        attempt.record(record(5, 1, 1));
        release(attempt, attempt.checkpoint(), 2);

        try (StoreAttempt other = StoreAttempt.open(
                new EmbeddedActionStateStore(StoreTesting.embedded(folder)), opening("sub-2", ALL, FRESH))) {
            assertThat(other.tail()).isEmpty();
        }
    }

    /** A paused attempt that was replaced deletes nothing when it hears of a checkpoint [S1.5, S1.8]. */
    @Test
    void replacedAttempt_releasesNothing() throws Exception {
        StoreAttempt zombie = open(ALL, FRESH);
        StoreOpening.Restored checkpoint = zombie.checkpoint();
        List<JournalRecord> behind = new ArrayList<>(zombie.record(record(5, 1, 1)));
        behind.addAll(zombie.record(record(5, 1, 2)));
        StoreOpening.Restored later = zombie.checkpoint();
        open(ALL, checkpoint);

        zombie.store().release(9, later.positions());
        assertThat(zombie.append(record(5, 1, 3))).failsWithin(StoreTesting.DEADLINE);

        assertThat(open(ALL, checkpoint).tail()).isEqualTo(behind);
    }

    /** Fence numbers go on after a release, and fences go from the lowest only [S1.5, S1.8]. */
    @Test
    void fences_keepTheirNumbersWithoutHoles() throws Exception {
        StoreAttempt one = open(ALL, FRESH);
        StoreAttempt lower = open(LOWER, one.checkpoint());
        Files.writeString(operator().resolve("fence-3"), "written in part");
        StoreAttempt lowerAgain = open(LOWER, lower.checkpoint());

        release(lowerAgain, lowerAgain.checkpoint(), 2);

        assertThat(DurableFiles.names(operator()))
                .contains("fence-1", "fence-2", "fence-3", "fence-4")
                .doesNotContain("writer-2");
        StoreAttempt all = open(ALL, StoreAttempt.checkpoint(one, lowerAgain));
        release(all, all.checkpoint(), 3);
        assertThat(DurableFiles.names(operator()))
                .containsExactlyInAnyOrder("STORE-ID", "fence-5", "cut-5", "floor-5", "writer-5");
    }

    /**
     * Releases between appends: one before, since the segment being written is never deleted, and two behind, so that the
     * release has been worked off on return.
     */
    private static List<JournalRecord> release(
            StoreAttempt attempt, StoreOpening.Restored oldestRetained, int nextNumber) {
        return release(attempt, oldestRetained, 5, nextNumber);
    }

    private static List<JournalRecord> release(
            StoreAttempt attempt, StoreOpening.Restored oldestRetained, int keyGroup, int nextNumber) {
        List<JournalRecord> appended = new ArrayList<>(attempt.record(record(keyGroup, 1, nextNumber)));
        attempt.store().release(9, oldestRetained.positions());
        appended.addAll(attempt.record(record(keyGroup, 1, nextNumber + 1)));
        appended.addAll(attempt.record(record(keyGroup, 1, nextNumber + 2)));
        return appended;
    }

    private void assertLost(StoreOpening.Restored restored, String reason) {
        StoreException failure = catchThrowableOfType(StoreException.class, () -> open(ALL, restored));

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_LOST);
        assertThat(failure)
                .hasMessageContaining(reason)
                .hasMessageContaining("store.retained-checkpoints")
                .hasMessageContaining("store.allow-lost-tail");
    }

    private StoreAttempt open(KeyGroups keyGroups, StoreOpening.Restored restored) throws StoreException {
        return open(StoreTesting.embedded(folder), keyGroups, restored);
    }

    private StoreAttempt openAllowingLostTail(StoreOpening.Restored restored) throws StoreException {
        return open(StoreTesting.allowingLostTail(folder), ALL, restored);
    }

    private StoreAttempt open(StoreSettings settings, KeyGroups keyGroups, StoreOpening.Restored restored)
            throws StoreException {
        StoreAttempt attempt = StoreAttempt.open(
                new EmbeddedActionStateStore(settings, StoreTesting.smallSegments(1)),
                opening("sub", keyGroups, restored));
        attempts.add(attempt);
        return attempt;
    }

    private Path operator() {
        return StoreTesting.operatorFolder(folder);
    }
}
