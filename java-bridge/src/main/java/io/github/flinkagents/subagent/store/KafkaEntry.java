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

import java.nio.ByteBuffer;
import java.util.UUID;

/** What a record of the topic is. */
sealed interface KafkaEntry {
    /** A claim on key groups. */
    record Claim(KafkaFence fence) implements KafkaEntry {}

    /**
     * A journal record.
     *
     * @param lineage {@link KafkaLineage#digest} of its writer, as a buffer so that it can be compared
     * @param writerId the attempt that wrote it
     * @param sequence counts the attempt's records from 0, over all partitions
     * @param record the record
     */
    record Journal(ByteBuffer lineage, UUID writerId, long sequence, JournalRecord record) implements KafkaEntry {}

    /**
     * Announces a deletion: what lies before the offset in this partition is needed by no checkpoint from that one on.
     *
     * @param lineage as above
     * @param before the offset
     * @param oldestCheckpoint the oldest checkpoint that stays recoverable
     */
    record Release(ByteBuffer lineage, long before, long oldestCheckpoint) implements KafkaEntry {}

    /**
     * Nothing that this release wrote, or damaged.
     *
     * @param reason what is wrong with it
     */
    record Unreadable(String reason) implements KafkaEntry {}
}
