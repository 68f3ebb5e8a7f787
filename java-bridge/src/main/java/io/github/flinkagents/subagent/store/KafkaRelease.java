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

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DeleteRecordsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Deletes the beginning of the partitions whose first key group is opened here, when their topic is of one job and operator
 * (S2.5).
 *
 * <p>Safe for other subtasks in the same partition: what is deleted lies before the position that this subtask had at a checkpoint
 * older than every one to be kept. A checkpoint begins when the one before is complete, so all records that any subtask
 * appends behind the barrier of a checkpoint to be kept come after that position.
 *
 * <p>Thread: the mailbox thread; nothing blocks.
 */
final class KafkaRelease {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaRelease.class);

    private final Admin admin;
    private final KafkaTopic topic;
    private final KafkaCommit commit;
    private final KafkaFence own;
    private final Map<Integer, Long> ends = new ConcurrentHashMap<>();
    private final Map<Integer, Long> released = new ConcurrentHashMap<>();
    private Map<Integer, Long> reached = Map.of();

    KafkaRelease(Admin admin, KafkaTopic topic, KafkaCommit commit, KafkaFence own) {
        this.admin = admin;
        this.topic = topic;
        this.commit = commit;
        this.own = own;
    }

    /** Where the log ended some time ago; also without own records in it, a position may lie there. */
    long knownEnd(int partition) {
        return ends.getOrDefault(partition, 0L);
    }

    /**
     * Takes the positions of the oldest checkpoint to be kept, and deletes what lies before those of the one before it.
     *
     * @param oldest by key group
     */
    void run(Map<Integer, KafkaPosition> oldest) {
        Map<Integer, Long> positions = new HashMap<>();
        for (int partition : topic.partitionsOf(own.keyGroups())) {
            KafkaPosition first = oldest.get(topic.firstKeyGroupOf(partition));
            // A position of an earlier attempt may be of another partition number, and is not needed: there are newer
            // ones.
            if (first != null && first.writerId().equals(own.writerId())) {
                positions.put(partition, first.offset());
            }
        }
        long checkpoint = oldest.values().stream()
                .mapToLong(KafkaPosition::checkpoint)
                .max()
                .orElse(0);
        delete(reached, checkpoint);
        reached = positions;
        refreshEnds();
    }

    private void delete(Map<Integer, Long> before, long checkpoint) {
        ByteBuffer lineage = ByteBuffer.wrap(own.lineage().digest());
        Map<TopicPartition, RecordsToDelete> deletions = new HashMap<>();
        List<KafkaCommit.Outgoing> announcements = new ArrayList<>();
        before.forEach((partition, offset) -> {
            // One record at least besides the announcement of the last time, or idle partitions would never come to
            // rest.
            if (offset > released.getOrDefault(partition, 0L) + 1) {
                announcements.add(
                        new KafkaCommit.Outgoing(partition, new KafkaEntry.Release(lineage, offset, checkpoint)));
                deletions.put(topic.at(partition), RecordsToDelete.beforeOffset(offset));
            }
        });
        if (!deletions.isEmpty()) {
            // Acknowledged: this attempt still owns the key groups, and a restore can tell the deletion from a loss.
            commit.submit(announcements).thenRun(() -> delete(deletions));
        }
    }

    private void delete(Map<TopicPartition, RecordsToDelete> deletions) {
        DeleteRecordsResult result = admin.deleteRecords(deletions);
        result.lowWatermarks()
                .forEach((place, deleted) -> deleted.whenComplete((low, failure) -> {
                    if (failure == null) {
                        released.merge(place.partition(), low.lowWatermark(), Math::max);
                    } else {
                        LOG.warn(
                                "Nothing was released in {}; the next checkpoint tries again. The job's user needs the right Delete"
                                        + " on the topic",
                                place,
                                failure);
                    }
                }));
    }

    private void refreshEnds() {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        for (int partition : topic.partitionsOf(own.keyGroups())) {
            asked.put(topic.at(partition), OffsetSpec.latest());
        }
        admin.listOffsets(asked).all().whenComplete((found, failure) -> {
            if (failure == null) {
                found.forEach((place, end) -> ends.merge(place.partition(), end.offset(), Math::max));
            } else {
                LOG.debug("The ends of {} are not known; the next checkpoint tries again", topic.name(), failure);
            }
        });
    }
}
