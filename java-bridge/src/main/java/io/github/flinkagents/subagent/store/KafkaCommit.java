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
import io.github.flinkagents.subagent.protocol.OnAnyThread;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The commit thread: hands everything queued to the producer, which sends it in few requests, makes sure that what has landed
 * lies before every later fence, acknowledges.
 *
 * <p>Invariants: batches are acknowledged in the order in which they were queued. A failure is final: none is acknowledged any
 * more after it. Every queued batch is answered.
 */
final class KafkaCommit {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaCommit.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final KafkaClients clients;
    private final KafkaTopic topic;
    private final KafkaFrontier frontier;
    private final KafkaSettings settings;
    private final Thread thread;
    private final Object lock = new Object();
    private final Deque<Batch> sent = new ArrayDeque<>();
    private List<Batch> queue = new ArrayList<>();
    private List<Landed> landed = new ArrayList<>();
    private @Nullable Rejected rejected;
    private @Nullable StoreException failure;
    private long lastTimestamp;

    /** A record on its way to a partition. */
    record Outgoing(int partition, KafkaEntry entry) {
        @Override
        public String toString() {
            return entry instanceof KafkaEntry.Journal journal
                    ? journal.record().toString()
                    : "a release";
        }
    }

    private static final class Batch {
        private final List<Outgoing> records;
        private final CompletableFuture<Void> acknowledged = new CompletableFuture<>();
        private int missing;

        private Batch(List<Outgoing> records) {
            this.records = records;
            this.missing = records.size();
        }
    }

    private record Landed(Batch batch, int partition, long offset) {}

    private record Rejected(Outgoing record, Throwable reason) {}

    private record Work(
            List<Batch> batches,
            List<Landed> landed,
            @Nullable Rejected rejected) {}

    KafkaCommit(KafkaClients clients, KafkaTopic topic, KafkaFrontier frontier, KafkaSettings settings, String name) {
        this.clients = clients;
        this.topic = topic;
        this.frontier = frontier;
        this.settings = settings;
        this.thread = new Thread(this::run, name);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Queues a batch; the future is completed on the commit thread. */
    @OnAnyThread
    CompletableFuture<Void> submit(List<Outgoing> records) {
        synchronized (lock) {
            if (failure != null) {
                return CompletableFuture.failedFuture(failure);
            }
            Batch batch = new Batch(records);
            queue.add(batch);
            lock.notifyAll();
            return batch.acknowledged;
        }
    }

    /** Fails what is not acknowledged yet, ends the thread and closes the clients. */
    void close() {
        fail(new StoreException(
                ErrorCode.STORE_UNAVAILABLE,
                "The Kafka store on topic '" + topic.name() + "' was closed before the append was acknowledged"));
        clients.interrupt();
        boolean isInterrupted = false;
        Deadline deadline = Deadline.afterMillis(CLOSE_TIMEOUT.toMillis());
        while (thread.isAlive() && !deadline.hasPassed()) {
            try {
                thread.join(CLOSE_TIMEOUT.toMillis());
            } catch (InterruptedException e) {
                isInterrupted = true; // A cancelled task closes its store all the same.
            }
        }
        if (thread.isAlive()) {
            LOG.warn(
                    "The commit thread of the Kafka store on topic {} has not ended within {} s",
                    topic.name(),
                    TimeUnit.MILLISECONDS.toSeconds(CLOSE_TIMEOUT.toMillis()));
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try (clients) {
            for (Work work = next(); work != null; work = next()) {
                work.batches.forEach(this::send);
                if (work.rejected != null) {
                    reject(work.rejected);
                    return;
                }
                settle(work.landed);
            }
        } catch (StoreException e) {
            fail(e);
        } catch (Throwable t) {
            // Whatever it is, the task hears of it through its appends.
            fail(KafkaFailure.of(t, "go on appending to '" + topic.name() + "'", settings));
        } finally {
            failOutstanding();
        }
    }

    private @Nullable Work next() {
        synchronized (lock) {
            while (failure == null && queue.isEmpty() && landed.isEmpty() && rejected == null) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    LOG.debug("Nothing interrupts the commit thread on purpose", e);
                }
            }
            if (failure != null) {
                return null;
            }
            Work work = new Work(queue, landed, rejected);
            sent.addAll(queue);
            queue = new ArrayList<>();
            landed = new ArrayList<>();
            return work;
        }
    }

    private void send(Batch batch) {
        for (Outgoing record : batch.records) {
            // Never backwards: readers put the records of several partitions into order by it.
            lastTimestamp = Math.max(lastTimestamp, System.currentTimeMillis());
            var address = new KafkaRecordCodec.Address(topic.name(), record.partition, lastTimestamp);
            clients.producer()
                    .send(
                            KafkaRecordCodec.encode(address, record.entry),
                            (metadata, failed) -> answered(batch, record, metadata, failed));
        }
    }

    /** Takes the broker's answer, on the producer's thread. */
    private void answered(Batch batch, Outgoing record, RecordMetadata metadata, @Nullable Exception failed) {
        synchronized (lock) {
            if (failed == null) {
                landed.add(new Landed(batch, record.partition, metadata.offset()));
            } else if (rejected == null) {
                rejected = new Rejected(record, failed);
            }
            lock.notifyAll();
        }
    }

    private void settle(List<Landed> records) throws StoreException {
        Map<Integer, List<Long>> offsets = new TreeMap<>();
        records.forEach(record -> offsets.computeIfAbsent(record.partition, partition -> new ArrayList<>())
                .add(record.offset));
        for (Map.Entry<Integer, List<Long>> partition : offsets.entrySet()) {
            frontier.landed(partition.getKey(), partition.getValue());
        }
        records.forEach(record -> record.batch.missing--);
        List<Batch> complete = new ArrayList<>();
        synchronized (lock) {
            while (failure == null && !sent.isEmpty() && sent.getFirst().missing == 0) {
                complete.add(sent.removeFirst());
            }
        }
        complete.forEach(batch -> batch.acknowledged.complete(null));
    }

    private void reject(Rejected record) {
        Throwable reason = new KafkaDiagnosis(clients.admin(), topic).of(record.reason, record.record.partition);
        fail(KafkaFailure.of(reason, "append " + record.record + " to " + topic.at(record.record.partition), settings));
    }

    private void fail(StoreException reason) {
        synchronized (lock) {
            failure = failure == null ? reason : failure;
            lock.notifyAll();
        }
    }

    /** Fails, in their order, the batches that are not acknowledged; on the commit thread's way out. */
    private void failOutstanding() {
        List<Batch> outstanding;
        StoreException reason;
        synchronized (lock) {
            outstanding = new ArrayList<>(sent);
            outstanding.addAll(queue);
            sent.clear();
            queue = new ArrayList<>();
            reason = Objects.requireNonNull(failure, "the commit thread ends by a failure or by close only");
        }
        outstanding.forEach(batch -> batch.acknowledged.completeExceptionally(reason));
    }
}
