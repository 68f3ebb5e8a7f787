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
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.UUID;

import static org.assertj.core.api.Assertions.assertThat;

/** Which records of a log count [S1.5, E4.3]. */
class KafkaOwnershipTest {
    private static final KafkaLineage LINEAGE = new KafkaLineage("job", "agent-x", "sub");
    private static final KafkaLineage AFRESH = new KafkaLineage("job", "agent-x", "sub-2");
    private static final KeyGroups GROUPS = new KeyGroups(4, 7);
    private static final UUID FIRST = new UUID(0, 1);
    private static final UUID SECOND = new UUID(0, 2);

    private final KafkaOwnership fresh = new KafkaOwnership(LINEAGE, GROUPS, Map.of());

    /** From a fence on its writer's records count, and no others [S1.5]. */
    @Test
    void lastFence_owns() {
        fresh.claim(0, fence(LINEAGE, FIRST, GROUPS));
        assertThat(fresh.holds(1, journal(FIRST, 5, 0))).isTrue();

        fresh.claim(2, fence(LINEAGE, SECOND, GROUPS));
        assertThat(fresh.holds(3, journal(FIRST, 5, 1))).isFalse();
        assertThat(fresh.holds(4, journal(SECOND, 5, 0))).isTrue();
    }

    /** A fence takes the key groups that it names, and leaves the others [S1.5, E4.7]. */
    @Test
    void fenceOnSomeKeyGroups_leavesTheOthers() {
        fresh.claim(0, fence(LINEAGE, FIRST, GROUPS));
        fresh.claim(1, fence(LINEAGE, SECOND, new KeyGroups(6, 9)));

        assertThat(fresh.holds(2, journal(FIRST, 5, 0))).isTrue();
        assertThat(fresh.holds(3, journal(FIRST, 6, 1))).isFalse();
        assertThat(fresh.isOwner(FIRST, new KeyGroups(4, 5))).isTrue();
        assertThat(fresh.isOwner(FIRST, GROUPS)).isFalse();
    }

    /** Fences and records of another operator mean nothing; a fresh start of the same one takes the key groups [S1.6, E5.1]. */
    @Test
    void otherLineages_doNotMix() {
        fresh.claim(0, fence(LINEAGE, FIRST, GROUPS));
        fresh.claim(1, fence(new KafkaLineage("job", "agent-y", "sub"), SECOND, GROUPS));
        assertThat(fresh.isOwner(FIRST, GROUPS)).isTrue();

        fresh.claim(2, fence(AFRESH, SECOND, GROUPS));
        assertThat(fresh.holds(3, journal(FIRST, 5, 0))).isFalse();
        assertThat(fresh.holds(4, journal(AFRESH, SECOND, 5, 0))).isFalse();
    }

    /** Behind a position its writer owns the key group; of what lies there only later numbers of the writer count [E4.3]. */
    @Test
    void position_leavesOutWhatIsInTheCheckpoint() {
        KafkaOwnership restored = new KafkaOwnership(LINEAGE, GROUPS, Map.of(5, position(10, 7), 6, position(20, 7)));
        restored.claim(3, fence(LINEAGE, SECOND, GROUPS));

        assertThat(restored.holds(9, journal(FIRST, 5, 9))).isFalse();
        assertThat(restored.holds(10, journal(FIRST, 5, 6))).isFalse();
        assertThat(restored.holds(11, journal(FIRST, 5, 7))).isTrue();
        assertThat(restored.holds(11, journal(FIRST, 6, 8))).isFalse();

        restored.claim(12, fence(LINEAGE, SECOND, GROUPS));
        assertThat(restored.holds(13, journal(SECOND, 5, 0))).isTrue();
    }

    /** A log that begins behind a position is whole when what is missing was released for a checkpoint not later than the position's [S1.8]. */
    @Test
    void announcedRelease_isNoLoss() {
        KafkaOwnership restored = new KafkaOwnership(LINEAGE, GROUPS, Map.of(5, position(10, 7)));
        assertThat(restored.isIncomplete(5, 10)).isFalse();
        assertThat(restored.isIncomplete(5, 11)).isTrue();

        restored.release(new KafkaEntry.Release(digest(LINEAGE), 15, 4));
        assertThat(restored.isIncomplete(5, 11)).isTrue();
        restored.release(new KafkaEntry.Release(digest(AFRESH), 15, 3));
        assertThat(restored.isIncomplete(5, 11)).isTrue();
        restored.release(new KafkaEntry.Release(digest(LINEAGE), 15, 3));
        assertThat(restored.isIncomplete(5, 15)).isFalse();
        assertThat(restored.isIncomplete(5, 16)).isTrue();
    }

    /** A fresh start finds the log cut by a record of its own whose fence is gone [S1.8, E5.1]. */
    @Test
    void ownRecordWithoutFence_isALoss() {
        assertThat(fresh.isIncomplete(5, 0)).isFalse();
        fresh.holds(1, journal(AFRESH, SECOND, 5, 0));
        assertThat(fresh.isIncomplete(5, 0)).isFalse();

        assertThat(fresh.holds(2, journal(FIRST, 5, 0))).isFalse();
        assertThat(fresh.isIncomplete(5, 0)).isTrue();
    }

    private static KafkaFence fence(KafkaLineage lineage, UUID writer, KeyGroups keyGroups) {
        return new KafkaFence(lineage, writer, lineage.origin(), keyGroups, 32);
    }

    private static KafkaPosition position(long offset, long sequence) {
        return new KafkaPosition(3, 32, offset, FIRST, sequence, "sub");
    }

    private static KafkaEntry.Journal journal(UUID writer, int keyGroup, long sequence) {
        return journal(LINEAGE, writer, keyGroup, sequence);
    }

    private static KafkaEntry.Journal journal(KafkaLineage lineage, UUID writer, int keyGroup, long sequence) {
        return new KafkaEntry.Journal(digest(lineage), writer, sequence, StoreAttempt.record(keyGroup, 1, 1));
    }

    private static ByteBuffer digest(KafkaLineage lineage) {
        return ByteBuffer.wrap(lineage.digest());
    }
}
