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
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

/**
 * One attempt's hold on the Kafka store.
 *
 * <p>The order of {@link #open} is the protocol: find the topic; write the fence into each own partition and wait until it is
 * acknowledged; take the ends of the logs; read up to them. A record of an earlier writer lies before the fence and is read,
 * or behind it, where its writer finds the fence before it acknowledges the record.
 */
final class KafkaAttempt {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaAttempt.class);

    private final StoreOpening opening;
    private final KafkaTopic topic;
    private final KafkaFence fence;
    private final ByteBuffer lineage;
    private final KafkaFrontier frontier;
    private final KafkaCommit commit;
    private final KafkaRelease release;
    private final boolean isReleasing;
    private long sequence;

    /**
     * What {@link #open} gives.
     *
     * @param attempt the hold, for as long as the task lives
     * @param tail what was read, to be forgotten once replayed
     */
    record Opened(KafkaAttempt attempt, StoreTail tail) {}

    private KafkaAttempt(
            StoreOpening opening, KafkaTopic topic, KafkaFence fence, KafkaFrontier frontier, Running running) {
        this.opening = opening;
        this.topic = topic;
        this.fence = fence;
        this.lineage = ByteBuffer.wrap(fence.lineage().digest());
        this.frontier = frontier;
        this.commit = running.commit;
        this.release = running.release;
        this.isReleasing = running.isReleasing;
    }

    private record Running(KafkaCommit commit, KafkaRelease release, boolean isReleasing) {}

    static Opened open(StoreSettings settings, KafkaSettings kafka, StoreOpening opening) throws StoreException {
        UUID writerId = UUID.randomUUID();
        KafkaClients clients = null;
        try {
            clients = KafkaClients.create(kafka, "flink-agents-subagent-" + writerId);
            return open(settings, kafka, opening, clients, writerId);
        } catch (KafkaException e) {
            close(clients);
            throw KafkaFailure.of(e, "be opened for operator " + opening.operatorUid(), kafka);
        } catch (StoreException | RuntimeException e) {
            close(clients);
            throw e;
        }
    }

    private static Opened open(
            StoreSettings settings, KafkaSettings kafka, StoreOpening opening, KafkaClients clients, UUID writerId)
            throws StoreException {
        KafkaTopic topic = new KafkaTopicSetup(clients.admin(), kafka, opening).find(opening.maxParallelism());
        Map<Integer, KafkaPosition> positions = new KafkaRestore(settings, opening, topic).positions();
        KafkaLineage lineage = new KafkaLineage(
                opening.jobIdentifier(), opening.operatorUid(), KafkaRestore.origin(opening, positions));
        KafkaFence fence =
                new KafkaFence(lineage, writerId, opening.submissionId(), opening.keyGroups(), topic.partitions());
        Map<Integer, Long> fences = publish(fence, topic, clients, kafka);
        List<TopicPartition> places = Arrays.stream(topic.partitionsOf(opening.keyGroups()))
                .mapToObj(topic::at)
                .toList();
        // The client warns of every answer about a partition that it is not assigned.
        clients.consumer().assign(places);
        Map<TopicPartition, Long> ends = clients.consumer().endOffsets(places);
        Map<TopicPartition, Long> begins = clients.consumer().beginningOffsets(places);
        KafkaLogReader log = new KafkaLogReader(clients.consumer(), topic, kafka);
        StoreTail tail = new KafkaTailReader(log, topic, fence, positions, settings).read(begins, ends);
        LOG.info(
                "Operator {} opened the topic {} as attempt {} for key groups {}; {} records to replay. {}",
                opening.operatorUid(),
                topic.name(),
                writerId,
                fence.keyGroups(),
                tail.records().size(),
                kafka.isDedicated()
                        ? "Records that no checkpoint needs are deleted"
                        : "Nothing is deleted, as store.kafka.topic may be shared: the topic's retention.ms must be longer"
                                + " than the job can be down");
        KafkaFrontier frontier = new KafkaFrontier(log, topic, fence, fences);
        KafkaCommit commit = new KafkaCommit(clients, topic, frontier, kafka, "action-state-store-" + writerId);
        commit.start();
        KafkaRelease release = new KafkaRelease(clients.admin(), topic, commit, fence);
        Running running = new Running(commit, release, kafka.isDedicated());
        return new Opened(new KafkaAttempt(opening, topic, fence, frontier, running), tail);
    }

    CompletableFuture<Void> append(List<JournalRecord> batch) {
        batch.forEach(record -> opening.requireOwn(record.keyGroup()));
        List<KafkaCommit.Outgoing> outgoing = new ArrayList<>(batch.size());
        for (JournalRecord record : batch) {
            outgoing.add(new KafkaCommit.Outgoing(
                    topic.partitionOf(record.keyGroup()),
                    new KafkaEntry.Journal(lineage, fence.writerId(), sequence++, record)));
        }
        return commit.submit(outgoing);
    }

    Map<Integer, StorePosition> positions(long checkpointId) {
        Map<Integer, Long> offsets = new TreeMap<>();
        for (int partition : topic.partitionsOf(opening.keyGroups())) {
            // Everything appended from now on is sent after both were known, and lands behind them.
            offsets.put(partition, Math.max(frontier.bound(partition), release.knownEnd(partition)));
        }
        return opening.keyGroups().stream().boxed().collect(Collectors.toMap(keyGroup -> keyGroup, keyGroup -> {
            long offset = offsets.get(topic.partitionOf(keyGroup));
            return new KafkaPosition(
                            checkpointId,
                            topic.partitions(),
                            offset,
                            fence.writerId(),
                            sequence,
                            fence.lineage().origin())
                    .encode();
        }));
    }

    void release(Map<Integer, StorePosition> oldestRetained) {
        if (!isReleasing) {
            return;
        }
        try {
            release.run(KafkaRestore.decoded(opening.keyGroups(), oldestRetained));
        } catch (StoreException e) {
            LOG.debug("The oldest checkpoint to be kept is of another store; nothing is released before newer ones", e);
        }
    }

    void close() {
        commit.close();
    }

    private static Map<Integer, Long> publish(
            KafkaFence fence, KafkaTopic topic, KafkaClients clients, KafkaSettings kafka) throws StoreException {
        Map<Integer, Future<RecordMetadata>> sent = new TreeMap<>();
        for (int partition : topic.partitionsOf(fence.keyGroups())) {
            var address = new KafkaRecordCodec.Address(topic.name(), partition, System.currentTimeMillis());
            sent.put(partition, clients.producer().send(KafkaRecordCodec.encode(address, new KafkaEntry.Claim(fence))));
        }
        Map<Integer, Long> offsets = new HashMap<>();
        for (Map.Entry<Integer, Future<RecordMetadata>> fenced : sent.entrySet()) {
            String attempt = "write its fence to " + topic.at(fenced.getKey());
            try {
                offsets.put(fenced.getKey(), fenced.getValue().get().offset());
            } catch (ExecutionException e) {
                Throwable reason = new KafkaDiagnosis(clients.admin(), topic).of(e.getCause(), fenced.getKey());
                throw KafkaFailure.of(reason, attempt, kafka);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StoreException(
                        ErrorCode.STORE_UNAVAILABLE, "The task was cancelled before the store could " + attempt, e);
            }
        }
        return offsets;
    }

    private static void close(@Nullable KafkaClients clients) {
        if (clients != null) {
            clients.close();
        }
    }
}
