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
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArraySerializer;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** What an administrator, or a stranger, does to a topic. Uses the client under its own name, whatever the store uses. */
final class TopicTools implements AutoCloseable {
    private final TestBroker broker;
    private final Admin admin;

    TopicTools(TestBroker broker) {
        this.broker = broker;
        this.admin = broker.admin();
    }

    void create(String topic, int partitions, Map<String, String> configs) {
        done(admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1).configs(configs)))
                .all());
    }

    void delete(String topic) {
        done(admin.deleteTopics(List.of(topic)).all());
    }

    void set(String topic, String name, String value) {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        AlterConfigOp change = new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
        done(admin.incrementalAlterConfigs(Map.of(resource, List.of(change))).all());
        // The broker obeys once it has the change from the controller, and then tells it too.
        await(
                name,
                () -> value.equals(done(admin.describeConfigs(List.of(resource)).all())
                        .get(resource)
                        .get(name)
                        .value()));
    }

    void growTo(String topic, int partitions) {
        done(admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(partitions)))
                .all());
        await(
                "partitions",
                () -> done(admin.describeTopics(List.of(topic)).allTopicNames())
                                .get(topic)
                                .partitions()
                                .size()
                        == partitions);
    }

    void deleteBefore(String topic, int partition, long offset) {
        done(admin.deleteRecords(Map.of(new TopicPartition(topic, partition), RecordsToDelete.beforeOffset(offset)))
                .all());
    }

    void allow(String topic, AclOperation... operations) {
        done(admin.createAcls(bindings(topic, operations)).all());
    }

    void disallow(String topic, AclOperation operation) {
        done(admin.deleteAcls(List.of(bindings(topic, operation).get(0).toFilter()))
                .all());
    }

    long begin(String topic, int partition) {
        return offset(topic, partition, OffsetSpec.earliest());
    }

    long end(String topic, int partition) {
        return offset(topic, partition, OffsetSpec.latest());
    }

    boolean exists(String topic) {
        return done(admin.listTopics().names()).contains(topic);
    }

    int replicas(String topic) {
        return done(admin.describeTopics(List.of(topic)).allTopicNames())
                .get(topic)
                .partitions()
                .get(0)
                .replicas()
                .size();
    }

    Optional<String> config(String topic, String name) {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        return Optional.of(done(admin.describeConfigs(List.of(resource)).all())
                .get(resource)
                .get(name)
                .value());
    }

    /** Writes a record as any other program might; returns its offset. */
    long write(ProducerRecord<byte[], byte[]> record) {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.address()), new ByteArraySerializer(), new ByteArraySerializer())) {
            return producer.send(record).get().offset();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Asks the broker until it is so; each question waits for the answer. */
    static void await(String what, Condition condition) {
        long end = System.nanoTime() + StoreTesting.DEADLINE.toNanos();
        while (!condition.holds()) {
            if (System.nanoTime() > end) {
                throw new AssertionError(what + ": not within " + StoreTesting.DEADLINE);
            }
        }
    }

    /** Something that comes true. */
    @FunctionalInterface
    interface Condition {
        boolean holds();
    }

    @Override
    public void close() {
        admin.close();
    }

    private long offset(String topic, int partition, OffsetSpec spec) {
        TopicPartition place = new TopicPartition(topic, partition);
        return done(admin.listOffsets(Map.of(place, spec)).all()).get(place).offset();
    }

    private static List<AclBinding> bindings(String topic, AclOperation... operations) {
        ResourcePattern pattern = new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL);
        return Arrays.stream(operations)
                .map(operation -> new AclBinding(
                        pattern, new AccessControlEntry("User:job", "*", operation, AclPermissionType.ALLOW)))
                .toList();
    }

    private static <T> T done(KafkaFuture<T> future) {
        try {
            return future.get(StoreTesting.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
