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
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Tells, while the log of one partition is read in order, which records count for the key groups that are opened: those behind
 * the key group's position, of the opener's lineage, by the writer whose fence was the last one before them (S1.5).
 */
final class KafkaOwnership {
    private final KafkaLineage lineage;
    private final ByteBuffer digest;
    private final KeyGroups keyGroups;
    private final Map<Integer, KafkaPosition> positions;
    private final Map<Integer, UUID> owners = new HashMap<>();
    private final List<KafkaEntry.Release> releases = new ArrayList<>();
    private boolean hasLostOwner;

    /**
     * Begins the log of a partition.
     *
     * @param lineage of the opener
     * @param keyGroups that are opened; those of other partitions do no harm
     * @param positions of the key groups in the restored checkpoint; empty on a fresh start
     */
    KafkaOwnership(KafkaLineage lineage, KeyGroups keyGroups, Map<Integer, KafkaPosition> positions) {
        this.lineage = lineage;
        this.digest = ByteBuffer.wrap(lineage.digest());
        this.keyGroups = keyGroups;
        this.positions = positions;
        positions.forEach((keyGroup, position) -> owners.put(keyGroup, position.writerId()));
    }

    /** Takes a fence. */
    void claim(long offset, KafkaFence fence) {
        if (fence.claims(lineage, keyGroups)) {
            fence.keyGroups().stream()
                    .filter(keyGroup -> keyGroups.contains(keyGroup) && isBehindPosition(keyGroup, offset))
                    .forEach(keyGroup -> owners.put(keyGroup, fence.writerId()));
        }
    }

    /** Whether a record counts. */
    boolean holds(long offset, KafkaEntry.Journal journal) {
        int keyGroup = journal.record().keyGroup();
        if (!keyGroups.contains(keyGroup) || !journal.lineage().equals(digest) || !isBehindPosition(keyGroup, offset)) {
            return false;
        }
        UUID owner = owners.get(keyGroup);
        if (owner == null) {
            // A record of this very submission, whose fence is gone with what came before it.
            hasLostOwner = true;
            return false;
        }
        return owner.equals(journal.writerId()) && !isInCheckpoint(positions.get(keyGroup), journal);
    }

    /** Whether an attempt owns every one of these key groups at the place that was reached. */
    boolean isOwner(UUID writerId, KeyGroups groups) {
        return groups.stream().allMatch(keyGroup -> writerId.equals(owners.get(keyGroup)));
    }

    /** Takes the announcement of a deletion. */
    void release(KafkaEntry.Release release) {
        if (release.lineage().equals(digest)) {
            releases.add(release);
        }
    }

    /**
     * Whether the log, which was read to its end, lacks what a key group needs.
     *
     * <p>A log that begins behind a position is complete all the same when what is missing was released for this
     * checkpoint or a later one than the oldest to be kept then: nothing that it needs was there.
     *
     * @param begin where the log begins now
     */
    boolean isIncomplete(int keyGroup, long begin) {
        KafkaPosition position = positions.get(keyGroup);
        if (position == null) {
            return hasLostOwner || !releases.isEmpty();
        }
        return position.offset() < begin
                && releases.stream()
                        .noneMatch(release ->
                                release.before() >= begin && release.oldestCheckpoint() <= position.checkpoint());
    }

    private boolean isBehindPosition(int keyGroup, long offset) {
        KafkaPosition position = positions.get(keyGroup);
        return position == null || offset >= position.offset();
    }

    private static boolean isInCheckpoint(@Nullable KafkaPosition position, KafkaEntry.Journal journal) {
        return position != null
                && position.writerId().equals(journal.writerId())
                && journal.sequence() < position.sequence();
    }
}
