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
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Knows for each own partition up to where no later fence stands. A record counts for readers when no other attempt's fence
 * lies between the own one and it; so the writer makes sure of that before it acknowledges the record (S1.5).
 *
 * <p>In a partition that nobody else writes to this costs nothing: offsets that the own records follow without a hole
 * cannot hold a fence. Only a hole is read.
 *
 * <p>Thread: the commit thread; {@link #bound} any.
 */
final class KafkaFrontier {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaFrontier.class);

    private final KafkaLogReader log;
    private final KafkaTopic topic;
    private final KafkaFence own;
    private final Map<Integer, Long> next;

    /**
     * Begins behind the own fence.
     *
     * @param fences its offset in each own partition
     */
    KafkaFrontier(KafkaLogReader log, KafkaTopic topic, KafkaFence own, Map<Integer, Long> fences) {
        this.log = log;
        this.topic = topic;
        this.own = own;
        this.next = new ConcurrentHashMap<>();
        fences.forEach((partition, offset) -> next.put(partition, offset + 1));
    }

    /**
     * Takes the offsets, ascending, at which own records have landed in a partition.
     *
     * @throws StoreException {@code STORE_FENCED} when a later attempt's fence lies before the last of them
     */
    void landed(int partition, List<Long> offsets) throws StoreException {
        long known = next.get(partition);
        long last = offsets.get(offsets.size() - 1);
        if (known + offsets.size() != last + 1) {
            look(partition, known, last);
        }
        next.put(partition, last + 1);
    }

    /** The offset behind the last own record that is known to count. */
    long bound(int partition) {
        return next.get(partition);
    }

    private void look(int partition, long from, long to) throws StoreException {
        try {
            log.read(partition, from, to, new KafkaLogReader.Sink() {
                @Override
                public void record(ConsumerRecord<byte[], byte[]> record, KafkaEntry entry) throws StoreException {
                    if (entry instanceof KafkaEntry.Claim claim) {
                        requireNotMine(partition, claim.fence());
                    }
                }

                @Override
                public void unreadable(long offset, String reason) {
                    // No reader takes it for a fence either.
                    LOG.warn("{}, offset {}, cannot be read: {}", topic.at(partition), offset, reason);
                }
            });
        } catch (OffsetOutOfRangeException e) {
            throw fenced(own, topic, partition, "what was written since its last record has been released already");
        }
    }

    private void requireNotMine(int partition, KafkaFence fence) throws StoreException {
        if (fence.claims(own.lineage(), own.keyGroups())) {
            throw fenced(
                    own,
                    topic,
                    partition,
                    "attempt " + fence.writerId() + " of submission " + fence.submissionId() + " (key groups "
                            + fence.keyGroups() + ") took them over");
        }
    }

    static StoreException fenced(KafkaFence own, KafkaTopic topic, int partition, String reason) {
        return new StoreException(
                ErrorCode.STORE_FENCED,
                "Attempt " + own.writerId() + " no longer owns key groups " + own.keyGroups() + " in "
                        + topic.at(partition) + ": " + reason
                        + ". Nothing of this attempt is recorded any more; it is usually a task that was given up"
                        + " while it was paused. If no such task runs, two running jobs share one job-identifier: give each"
                        + " its own");
    }
}
