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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.opening;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;

/** What every store owes when attempts replace each other, side by side or one after the other. */
abstract class TakeOverContract {
    static final StoreOpening.Restored FRESH = StoreOpening.Restored.NONE;
    static final KeyGroups LOWER = new KeyGroups(0, 63);
    static final KeyGroups UPPER = new KeyGroups(64, 127);

    private final List<StoreAttempt> attempts = new ArrayList<>();

    /** Makes another store object on the same storage. */
    abstract ActionStateStore newStore();

    /** Which of these acknowledged records a later attempt finds: all, unless the store keeps nothing. */
    List<JournalRecord> survivors(List<JournalRecord> acknowledged) {
        return acknowledged;
    }

    /** What an append gives whose key groups a later attempt took over. */
    void assertFenced(CompletableFuture<Void> append) {
        assertThat(append)
                .failsWithin(StoreTesting.DEADLINE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.STORE_FENCED));
    }

    @AfterEach
    final void closeAll() {
        attempts.forEach(StoreAttempt::close);
    }

    final StoreAttempt open(StoreOpening opening) throws StoreException {
        StoreAttempt attempt = StoreAttempt.open(newStore(), opening);
        attempts.add(attempt);
        return attempt;
    }

    final StoreAttempt open(String submission, KeyGroups keyGroups, StoreOpening.Restored restored)
            throws StoreException {
        return open(opening(submission, keyGroups, restored));
    }

    /** A subtask reads its own key groups only [S1.3, E4.3]. */
    @Test
    void restore_readsOnlyItsKeyGroups() throws StoreException {
        StoreAttempt first = open("sub", ALL, FRESH);
        StoreOpening.Restored checkpoint = first.checkpoint();
        List<JournalRecord> recorded = first.record(record(63, 1, 1), record(64, 1, 1));

        assertThat(open("sub", LOWER, checkpoint).tail()).isEqualTo(survivors(recorded.subList(0, 1)));
        assertThat(open("sub", UPPER, checkpoint).tail()).isEqualTo(survivors(recorded.subList(1, 2)));
    }

    /** Each key group starts at its own position [E4.3]. */
    @Test
    void restore_ignoresRecordsBeforeAKeyGroupsOwnPosition() throws StoreException {
        StoreAttempt lower = open("sub", LOWER, FRESH);
        StoreAttempt upper = open("sub", UPPER, FRESH);
        lower.record(record(1, 1, 1));
        upper.record(record(100, 1, 1), record(100, 1, 2));
        StoreOpening.Restored checkpoint = StoreAttempt.checkpoint(lower, upper);
        List<JournalRecord> behind = new ArrayList<>(lower.record(record(1, 1, 2)));
        behind.addAll(upper.record(record(100, 1, 3)));

        assertThat(open("sub", ALL, checkpoint).tail()).isEqualTo(survivors(behind));
    }

    /** A log in which some key groups end is not read for those that end in a later one [E4.3, S1.3]. */
    @Test
    void restore_ignoresEarlierLogsOfAKeyGroup() throws StoreException {
        StoreAttempt all = open("sub", ALL, FRESH);
        StoreOpening.Restored start = all.checkpoint();
        List<JournalRecord> recorded = all.record(record(1, 1, 1), record(100, 1, 1));
        StoreAttempt upper = open("sub", UPPER, start);
        Map<Integer, StorePosition> mixed = new HashMap<>(start.positions());
        mixed.putAll(upper.store().positions(1));

        assertThat(open("sub", ALL, new StoreOpening.Restored(start.storeId(), mixed))
                        .tail())
                .isEqualTo(survivors(recorded.subList(0, 1)));
    }

    /** Records survive from one subtask to two and back to one, with nothing lost or read twice [E4.7, S1.3]. */
    @Test
    void rescaling_keepsEveryRecord() throws StoreException {
        StoreAttempt one = open("sub", ALL, FRESH);
        StoreOpening.Restored checkpoint = one.checkpoint();
        List<JournalRecord> recorded = new ArrayList<>(one.record(record(10, 1, 1), record(110, 1, 1)));
        StoreAttempt lower = open("sub", LOWER, checkpoint);
        StoreAttempt upper = open("sub", UPPER, checkpoint);
        recorded.addAll(upper.record(record(110, 1, 2), record(64, 1, 1)));
        recorded.addAll(lower.record(record(10, 1, 2), record(63, 1, 1)));

        StoreAttempt again = open("sub", ALL, checkpoint);

        assertThat(again.tail()).containsExactlyInAnyOrderElementsOf(survivors(recorded));
        StoreOpening.Restored later = again.checkpoint();
        List<JournalRecord> last = again.record(record(10, 1, 3), record(110, 1, 3));
        assertThat(open("sub", LOWER, later).tail()).isEqualTo(survivors(last.subList(0, 1)));
        assertThat(open("sub", UPPER, later).tail()).isEqualTo(survivors(last.subList(1, 2)));
    }

    /** A checkpoint that several failed attempts started from leads to the records of all of them [S1.3, E4.3]. */
    @Test
    void restoringTwiceFromOneCheckpoint_readsAllAttempts() throws StoreException {
        StoreAttempt first = open("sub", ALL, FRESH);
        StoreOpening.Restored checkpoint = first.checkpoint();
        List<JournalRecord> recorded = new ArrayList<>(first.record(record(5, 1, 1)));
        recorded.addAll(open("sub", ALL, checkpoint).record(record(5, 1, 2)));
        recorded.addAll(open("another submission", ALL, checkpoint).record(record(5, 1, 3)));

        assertThat(open("sub", ALL, checkpoint).tail()).isEqualTo(survivors(recorded));
    }

    /** A paused attempt that was replaced records nothing any more, and no reader sees what it tried [S1.5]. */
    @Test
    void replacedAttempt_isFenced() throws StoreException {
        StoreAttempt zombie = open("sub", ALL, FRESH);
        List<JournalRecord> recorded = new ArrayList<>(zombie.record(record(5, 1, 1)));
        StoreAttempt successor = open("sub", ALL, FRESH);

        assertFenced(zombie.append(record(5, 1, 2, "zombie")));
        recorded.addAll(successor.record(record(5, 1, 2)));

        assertThat(open("sub", ALL, FRESH).tail()).isEqualTo(survivors(recorded));
    }

    /** Taking over some of its key groups is enough to stop an attempt [S1.5, E4.7]. */
    @Test
    void attemptReplacedInPart_isFenced() throws StoreException {
        StoreAttempt zombie = open("sub", ALL, FRESH);
        open("sub", UPPER, FRESH);

        assertFenced(zombie.append(record(100, 1, 1, "zombie")));
        assertFenced(zombie.append(record(5, 1, 1, "zombie")));

        assertThat(open("sub", ALL, FRESH).tail()).isEmpty();
    }

    /** Attempts on other key groups do not disturb each other [S1.5]. */
    @Test
    void neighbours_areNotFenced() throws StoreException {
        StoreAttempt lower = open("sub", LOWER, FRESH);
        StoreAttempt upper = open("sub", UPPER, FRESH);

        lower.record(record(5, 1, 1));
        upper.record(record(100, 1, 1));
    }

    /** Jobs and operators never see each other's records, whatever they are called [S1.6]. */
    @ParameterizedTest
    @CsvSource({"job,agent-y", "job2,agent-x", "JOB,agent-x", "job/agent-x,''", "..,job", "'',''", "job%2fagent-x,''"})
    void namespaces_areApart(String job, String uid) throws StoreException {
        StoreAttempt other = open(new StoreOpening(job, uid, "sub", ALL, 128, FRESH));
        List<JournalRecord> recorded = other.record(record(5, 1, 1));

        assertThat(open("sub", ALL, FRESH).tail()).isEmpty();
        assertThat(open(new StoreOpening(job, uid, "sub", ALL, 128, FRESH)).tail())
                .isEqualTo(survivors(recorded));
    }

    /** A fresh start of another submission reads nothing of earlier ones [E5.1]. */
    @Test
    void freshStartOfAnotherSubmission_readsNothing() throws StoreException {
        open("sub", ALL, FRESH).record(record(5, 1, 1));

        assertThat(open("sub-2", ALL, FRESH).tail()).isEmpty();
    }

    /** Going back to a checkpoint taken before somebody started afresh does not read what the fresh start wrote [E5.1, S1.3]. */
    @Test
    void freshStartInBetween_doesNotMixIntoARestore() throws StoreException {
        StoreAttempt first = open("sub", ALL, FRESH);
        StoreOpening.Restored checkpoint = first.checkpoint();
        List<JournalRecord> recorded = first.record(record(5, 7, 1));
        StoreAttempt afresh = open("sub-2", ALL, FRESH);
        afresh.record(record(5, 7, 2, "of another history"));
        open("sub-2", ALL, afresh.checkpoint()).record(record(5, 7, 3, "of another history"));

        assertThat(open("sub-3", ALL, checkpoint).tail()).isEqualTo(survivors(recorded));
    }
}
