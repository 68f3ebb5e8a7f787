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

import io.github.flinkagents.subagent.protocol.KeyGroups;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Jobs with random lives: appends, checkpoints, releases, crashes, restores from any retained checkpoint at any parallelism,
 * paused attempts that come back, openers that die half-way. A model keeps what each checkpoint must find.
 */
class RandomHistoryTest {
    private static final int LIVES = 40;
    private static final int STEPS = 60;
    private static final int KEY_GROUPS = 8;
    private static final int RETAINED = 2;

    private final List<StoreAttempt> everOpened = new ArrayList<>();
    private final List<StoreAttempt> zombies = new ArrayList<>();
    private final List<Subtask> running = new ArrayList<>();
    private final Deque<Checkpoint> retained = new ArrayDeque<>();
    private final Map<Integer, Integer> numbers = new HashMap<>();

    @TempDir(factory = FastFolder.class)
    private Path folder;

    /** A subtask and its own bookkeeping of what may be released. */
    private record Subtask(StoreAttempt attempt, KeyGroups keyGroups, RetainedCheckpoints checkpoints) {}

    /** A completed checkpoint and, in order, what was acknowledged behind it. */
    private record Checkpoint(StoreOpening.Restored restored, List<JournalRecord> behind) {}

    static IntStream seeds() {
        return IntStream.range(0, LIVES);
    }

    @AfterEach
    void closeAll() {
        everOpened.forEach(StoreAttempt::close);
    }

    /** Every retained checkpoint finds exactly what was acknowledged behind it, whatever happened [S1.1, S1.3, S1.5, S1.8, E4.7]. */
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void retainedCheckpoint_findsWhatWasAcknowledged(int seed) throws Exception {
        Random random = new Random(seed);
        StoreAttempt.open(newStore(), opening(new KeyGroups(0, KEY_GROUPS - 1), StoreOpening.Restored.NONE))
                .close();
        retained.add(new Checkpoint(StoreOpening.Restored.NONE, new ArrayList<>()));
        restart(random);
        for (int step = 0; step < STEPS; step++) {
            switch (random.nextInt(8)) {
                case 0 -> restart(random);
                case 1, 2 -> completeCheckpoint(step);
                case 3 -> appendByZombie(random);
                case 4 -> openAndDie(random);
                default -> append(random);
            }
        }
        restart(random);
    }

    private void append(Random random) {
        Subtask subtask = running.get(random.nextInt(running.size()));
        int keyGroup =
                subtask.keyGroups.first() + random.nextInt(subtask.keyGroups.last() - subtask.keyGroups.first() + 1);
        JournalRecord appended = StoreAttempt.record(keyGroup, 1, numbers.merge(keyGroup, 1, Integer::sum));
        subtask.attempt.record(appended);
        retained.forEach(checkpoint -> checkpoint.behind.add(appended));
    }

    private void completeCheckpoint(int id) {
        StoreAttempt[] attempts = running.stream().map(Subtask::attempt).toArray(StoreAttempt[]::new);
        retained.add(new Checkpoint(StoreAttempt.checkpoint(attempts), new ArrayList<>()));
        if (retained.size() > RETAINED) {
            retained.removeFirst();
        }
        for (Subtask subtask : running) {
            subtask.checkpoints.snapshotTaken(id, subtask.attempt.store().positions(id));
            subtask.checkpoints
                    .checkpointCompleted(id)
                    .ifPresent(oldest -> subtask.attempt.store().release(id, oldest));
        }
    }

    /** Kills all subtasks, restores a retained checkpoint and compares; newer checkpoints are then no longer restored. */
    private void restart(Random random) throws StoreException {
        running.forEach(subtask -> zombies.add(subtask.attempt));
        running.clear();
        while (retained.size() > 1 && random.nextBoolean()) {
            retained.removeLast();
        }
        Checkpoint checkpoint = retained.getLast();
        List<JournalRecord> found = new ArrayList<>();
        int parallelism = 1 + random.nextInt(3);
        for (int subtask = 0; subtask < parallelism; subtask++) {
            KeyGroups keyGroups =
                    new KeyGroups(subtask * KEY_GROUPS / parallelism, (subtask + 1) * KEY_GROUPS / parallelism - 1);
            StoreAttempt attempt = open(keyGroups, checkpoint.restored);
            found.addAll(attempt.tail());
            running.add(new Subtask(
                    attempt, keyGroups, new RetainedCheckpoints(RETAINED, checkpoint.restored.positions())));
        }
        assertThat(byKeyGroup(found)).isEqualTo(byKeyGroup(checkpoint.behind));
    }

    private void appendByZombie(Random random) {
        if (!zombies.isEmpty()) {
            StoreAttempt zombie = zombies.get(random.nextInt(zombies.size()));
            int keyGroup = zombie.store().positions(1).keySet().iterator().next();
            assertThat(zombie.append(StoreAttempt.record(keyGroup, 1, 1 + numbers.getOrDefault(keyGroup, 0), "zombie")))
                    .failsWithin(StoreTesting.DEADLINE);
        }
    }

    /** An opener dies after its fence or after its cut; the job restarts, since its running subtasks are fenced by it. */
    private void openAndDie(Random random) throws Exception {
        FenceDirectory fences = new FenceDirectory(StoreTesting.operatorFolder(folder));
        int first = random.nextInt(KEY_GROUPS);
        Fence fence = fences.claim("00".repeat(16), "sub", "sub", new KeyGroups(first, KEY_GROUPS - 1));
        if (random.nextBoolean()) {
            SegmentWriter.create(fences.writerFolder(fence.number()), fence.writerId(), StoreTesting.smallSegments(1))
                    .close();
            Map<Long, Long> ends = new HashMap<>();
            for (Fence earlier : fences.view().fences().headMap(fence.number()).values()) {
                if (fences.view().cuts().containsKey(earlier.number())) {
                    ends.put(earlier.number(), SegmentFile.durableEnd(fences.writerFolder(earlier.number())));
                }
            }
            fences.publishCut(fence.number(), ends);
        }
        restart(random);
    }

    private static Map<Integer, List<JournalRecord>> byKeyGroup(List<JournalRecord> records) {
        Map<Integer, List<JournalRecord>> grouped = new HashMap<>();
        records.forEach(record -> grouped.computeIfAbsent(record.keyGroup(), keyGroup -> new ArrayList<>())
                .add(record));
        return grouped;
    }

    private StoreAttempt open(KeyGroups keyGroups, StoreOpening.Restored restored) throws StoreException {
        StoreAttempt attempt = StoreAttempt.open(newStore(), opening(keyGroups, restored));
        everOpened.add(attempt);
        return attempt;
    }

    private static StoreOpening opening(KeyGroups keyGroups, StoreOpening.Restored restored) {
        return StoreAttempt.opening("sub", keyGroups, restored);
    }

    private ActionStateStore newStore() {
        return new EmbeddedActionStateStore(StoreTesting.embedded(folder), StoreTesting.smallSegments(100));
    }
}
