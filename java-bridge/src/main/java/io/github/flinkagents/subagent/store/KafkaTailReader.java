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
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.UUID;
import java.util.stream.Collectors;

/** Reads, behind the own fence, what was recorded since the positions: partition by partition up to the given ends. */
final class KafkaTailReader {
    private final KafkaLogReader log;
    private final KafkaTopic topic;
    private final KafkaFence own;
    private final Map<Integer, KafkaPosition> positions;
    private final StoreSettings settings;
    private final Damage damage;

    /** A record that counts, with what puts it into its place among those of other partitions. */
    private record Found(long timestamp, long sequence, UUID writerId, JournalRecord record) {}

    KafkaTailReader(
            KafkaLogReader log,
            KafkaTopic topic,
            KafkaFence own,
            Map<Integer, KafkaPosition> positions,
            StoreSettings settings) {
        this.log = log;
        this.topic = topic;
        this.own = own;
        this.positions = positions;
        this.settings = settings;
        this.damage = new Damage("The topic '" + topic.name() + "'", "");
    }

    /**
     * Returns the tail.
     *
     * @param begins where each own partition's log begins
     * @param ends where it ended after the own fence was acknowledged
     */
    StoreTail read(Map<TopicPartition, Long> begins, Map<TopicPartition, Long> ends) throws StoreException {
        List<List<Found>> logs = new ArrayList<>();
        for (int partition : topic.partitionsOf(own.keyGroups())) {
            TopicPartition place = topic.at(partition);
            logs.add(read(partition, begins.get(place), ends.get(place)));
        }
        damage.settle(settings.onCorrupt());
        JournalAssembly journals = new JournalAssembly();
        Map<UUID, Long> attempts = new HashMap<>();
        merged(logs)
                .forEach(found -> journals.add(
                        attempts.computeIfAbsent(found.writerId(), writer -> (long) attempts.size()), found.record()));
        return new StoreTail(topic.storeId(), journals.records(), damage.count());
    }

    private List<Found> read(int partition, long begin, long end) throws StoreException {
        KeyGroups groups = groupsOf(partition);
        Map<Integer, KafkaPosition> known = positions.entrySet().stream()
                .filter(entry -> groups.contains(entry.getKey()))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        LongSummaryStatistics offsets =
                known.values().stream().mapToLong(KafkaPosition::offset).summaryStatistics();
        if (!known.isEmpty() && offsets.getMax() > end) {
            lost("the log of " + topic.at(partition) + " ends at offset " + end + ", the checkpoint was taken at "
                    + offsets.getMax());
            return List.of();
        }
        KafkaOwnership ownership = new KafkaOwnership(own.lineage(), groups, known);
        long from = known.isEmpty() ? begin : Math.max(begin, offsets.getMin());
        List<Found> found = read(partition, from, end, ownership);
        requireComplete(partition, begin, groups, ownership);
        if (!ownership.isOwner(own.writerId(), groups)) {
            throw KafkaFrontier.fenced(own, topic, partition, "a later attempt took them over while this one opened");
        }
        return found;
    }

    private void requireComplete(int partition, long begin, KeyGroups groups, KafkaOwnership ownership)
            throws StoreException {
        for (int keyGroup : groups.stream().toArray()) {
            if (ownership.isIncomplete(keyGroup, begin)) {
                lost("the log of " + topic.at(partition) + " begins at offset " + begin + ", and records of key group "
                        + keyGroup + " before it are gone");
            }
        }
    }

    private List<Found> read(int partition, long from, long end, KafkaOwnership ownership) throws StoreException {
        List<Found> found = new ArrayList<>();
        try {
            log.read(partition, from, end, new KafkaLogReader.Sink() {
                @Override
                public void record(ConsumerRecord<byte[], byte[]> record, KafkaEntry entry) throws StoreException {
                    take(record, entry, ownership, found);
                }

                @Override
                public void unreadable(long offset, String reason) {
                    damage.add(topic.at(partition) + ", offset " + offset, reason);
                }
            });
        } catch (OffsetOutOfRangeException e) {
            lost("the log of " + topic.at(partition) + " was deleted in part while it was read: " + e.getMessage());
        }
        return found;
    }

    private void take(
            ConsumerRecord<byte[], byte[]> record, KafkaEntry entry, KafkaOwnership ownership, List<Found> found)
            throws StoreException {
        if (entry instanceof KafkaEntry.Journal journal) {
            if (ownership.holds(record.offset(), journal)) {
                found.add(new Found(record.timestamp(), journal.sequence(), journal.writerId(), journal.record()));
            }
        } else if (entry instanceof KafkaEntry.Claim claim) {
            if (claim.fence().claims(own.lineage(), own.keyGroups())) {
                topic.requireSamePartitions(claim.fence());
            }
            ownership.claim(record.offset(), claim.fence());
        } else if (entry instanceof KafkaEntry.Release release) {
            ownership.release(release);
        } else if (entry instanceof KafkaEntry.Unreadable unreadable) {
            damage.add(topic.at(record.partition()) + ", offset " + record.offset(), unreadable.reason());
        }
    }

    private KeyGroups groupsOf(int partition) {
        int[] groups = own.keyGroups().stream()
                .filter(keyGroup -> topic.partitionOf(keyGroup) == partition)
                .toArray();
        return new KeyGroups(groups[0], groups[groups.length - 1]);
    }

    private void lost(String what) throws StoreException {
        if (!settings.allowLostTail()) {
            throw new StoreException(
                    ErrorCode.STORE_LOST,
                    "The Kafka store has lost records that the restore needs: " + what
                            + ". Restore from one of the last " + settings.retainedCheckpoints()
                            + " checkpoints (store.retained-checkpoints), or set store.allow-lost-tail: true, which"
                            + " repeats the calls whose records are gone");
        }
    }

    /**
     * Merges the partitions by time and number: the order within each is kept, and that of one writer over all of them too,
     * since its times never run backwards.
     */
    private static List<Found> merged(List<List<Found>> logs) {
        /** The next record of a partition, and those behind it. */
        record Head(Found found, Iterator<Found> rest) {}
        PriorityQueue<Head> heads = new PriorityQueue<>(Comparator.comparingLong((Head head) -> head.found.timestamp())
                .thenComparingLong(head -> head.found.sequence()));
        for (List<Found> log : logs) {
            Iterator<Found> rest = log.iterator();
            if (rest.hasNext()) {
                heads.add(new Head(rest.next(), rest));
            }
        }
        List<Found> merged = new ArrayList<>();
        for (Head head = heads.poll(); head != null; head = heads.poll()) {
            merged.add(head.found);
            if (head.rest.hasNext()) {
                heads.add(new Head(head.rest.next(), head.rest));
            }
        }
        return merged;
    }
}
