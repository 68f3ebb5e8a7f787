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
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The three clients of one attempt. The producer is idempotent and waits for all replicas in sync; the consumer belongs to no
 * group.
 *
 * <p>Thread: producer and admin any; the consumer one at a time.
 */
final class KafkaClients implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaClients.class);
    private static final Duration AT_ONCE = Duration.ZERO;
    /** Without this the text would be relocated together with the classes when the jar is made. */
    private static final String KAFKA_PACKAGE = String.join(".", "org", "apache", "kafka") + ".";

    private final Admin admin;
    private final Producer<byte[], byte[]> producer;
    private final Consumer<byte[], byte[]> consumer;

    private KafkaClients(Admin admin, Producer<byte[], byte[]> producer, Consumer<byte[], byte[]> consumer) {
        this.admin = admin;
        this.producer = producer;
        this.consumer = consumer;
    }

    /** Makes the clients; nothing is connected yet. */
    static KafkaClients create(KafkaSettings settings, String clientId) {
        Admin admin = Admin.create(adminProperties(settings, clientId));
        try {
            Producer<byte[], byte[]> producer = new KafkaProducer<>(
                    producerProperties(settings, clientId), new ByteArraySerializer(), new ByteArraySerializer());
            try {
                return new KafkaClients(
                        admin,
                        producer,
                        new KafkaConsumer<>(
                                consumerProperties(settings, clientId),
                                new ByteArrayDeserializer(),
                                new ByteArrayDeserializer()));
            } catch (RuntimeException e) {
                producer.close(AT_ONCE);
                throw e;
            }
        } catch (RuntimeException e) {
            admin.close(AT_ONCE);
            throw e;
        }
    }

    Admin admin() {
        return admin;
    }

    Producer<byte[], byte[]> producer() {
        return producer;
    }

    Consumer<byte[], byte[]> consumer() {
        return consumer;
    }

    /** Makes whoever waits in the producer or the consumer give up. */
    void interrupt() {
        consumer.wakeup();
        quietly(() -> producer.close(AT_ONCE));
    }

    /** Closes all three without waiting for brokers; on the thread that uses the consumer, or after its end. */
    @Override
    public void close() {
        quietly(() -> producer.close(AT_ONCE));
        quietly(() -> consumer.close(CloseOptions.timeout(AT_ONCE)));
        quietly(() -> admin.close(AT_ONCE));
    }

    private static void quietly(Runnable close) {
        // A cancelled task closes its clients all the same: they give up half-way when they find the thread
        // interrupted.
        boolean isInterrupted = Thread.interrupted();
        try {
            close.run();
        } catch (RuntimeException e) {
            LOG.warn("A Kafka client could not be closed in an orderly way", e);
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Map<String, Object> producerProperties(KafkaSettings settings, String clientId) {
        Map<String, Object> properties = common(settings, clientId, ProducerConfig.configNames());
        properties.put(ProducerConfig.ACKS_CONFIG, "all");
        properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        properties.putIfAbsent(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
        properties.putIfAbsent(ProducerConfig.LINGER_MS_CONFIG, 1);
        properties.putIfAbsent(ProducerConfig.BATCH_SIZE_CONFIG, 64 * 1024);
        properties.putIfAbsent(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, settings.maxMessageBytes());
        properties.putIfAbsent(
                ProducerConfig.BUFFER_MEMORY_CONFIG, Math.max(64L << 20, 2L * settings.maxMessageBytes()));
        return properties;
    }

    private static Map<String, Object> consumerProperties(KafkaSettings settings, String clientId) {
        Map<String, Object> properties = common(settings, clientId, ConsumerConfig.configNames());
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_uncommitted");
        // The client fetches ahead; at the end of a partition that must not hold up the next read.
        properties.putIfAbsent(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 10);
        return properties;
    }

    private static Map<String, Object> adminProperties(KafkaSettings settings, String clientId) {
        return common(settings, clientId, AdminClientConfig.configNames());
    }

    private static Map<String, Object> common(KafkaSettings settings, String clientId, Set<String> known) {
        Map<String, Object> properties = new HashMap<>();
        settings.properties().forEach((name, value) -> {
            if (known.contains(name) || !isOfAnyClient(name)) {
                properties.put(name, relocated(value, KafkaProducer.class.getPackageName()));
            }
        });
        properties.put("bootstrap.servers", settings.bootstrapServers());
        properties.put("client.id", clientId);
        // No traces of attempts in the JVM's beans, and no thread that pushes measurements to the broker.
        properties.putIfAbsent("metric.reporters", "");
        properties.putIfAbsent("enable.metrics.push", false);
        return properties;
    }

    private static boolean isOfAnyClient(String name) {
        return ProducerConfig.configNames().contains(name)
                || ConsumerConfig.configNames().contains(name)
                || AdminClientConfig.configNames().contains(name);
    }

    /**
     * Rewrites the names of Kafka's own classes in a property to where they are in this jar.
     *
     * @param value as a user gives it, for instance a {@code sasl.jaas.config}
     * @param producerPackage the package of {@code KafkaProducer} here
     */
    static String relocated(String value, String producerPackage) {
        String here = producerPackage.substring(0, producerPackage.length() - "clients.producer".length());
        return here.equals(KAFKA_PACKAGE) ? value : value.replace(KAFKA_PACKAGE, here);
    }
}
