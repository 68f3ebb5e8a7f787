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
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

/** Finds the topic, creates it when it is missing, and refuses one that cannot keep records. A present topic is never altered. */
final class KafkaTopicSetup {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaTopicSetup.class);
    private static final long FOREVER = -1;
    /** A broker frees whole segments only, and never the last one; Kafka's default of 1 GiB would be a long wait. */
    private static final int SEGMENT_BYTES = 16 * 1024 * 1024;

    private final Admin admin;
    private final KafkaSettings settings;
    private final String name;

    KafkaTopicSetup(Admin admin, KafkaSettings settings, StoreOpening opening) {
        this.admin = admin;
        this.settings = settings;
        String named = settings.topic();
        this.name = named != null
                ? named
                : KafkaTopicName.of(settings.topicPrefix(), opening.jobIdentifier(), opening.operatorUid());
    }

    /** Returns the topic; blocks. */
    KafkaTopic find(int maxParallelism) throws StoreException {
        TopicDescription found = describe().orElse(null);
        if (found == null) {
            create();
            found = describeCreated();
        }
        check();
        return new KafkaTopic(name, found.topicId(), found.partitions().size(), maxParallelism);
    }

    private Optional<TopicDescription> describe() throws StoreException {
        try {
            return Optional.of(
                    admin.describeTopics(List.of(name)).allTopicNames().get().get(name));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof UnknownTopicOrPartitionException) {
                return Optional.empty();
            }
            throw failure(e, "describe the topic '" + name + "'");
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    /** Asks until the answering broker has heard of the topic that was just created; each question is a round trip. */
    private TopicDescription describeCreated() throws StoreException {
        Deadline deadline = Deadline.afterMillis(settings.apiTimeoutMillis());
        while (true) {
            Optional<TopicDescription> found = describe();
            if (found.isPresent()) {
                return found.get();
            }
            if (deadline.hasPassed()) {
                throw new StoreException(
                        ErrorCode.STORE_UNAVAILABLE,
                        "The topic '" + name + "' was created, but the brokers at " + settings.bootstrapServers()
                                + " do not know it; look at the state of the cluster's controller");
            }
        }
    }

    private void create() throws StoreException {
        Map<String, String> configs = new HashMap<>();
        configs.put(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE);
        configs.put(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, String.valueOf(settings.maxMessageBytes()));
        if (settings.isDedicated()) {
            // The store deletes by itself what no checkpoint needs; time says nothing about that.
            configs.put(TopicConfig.RETENTION_MS_CONFIG, String.valueOf(FOREVER));
            configs.put(TopicConfig.RETENTION_BYTES_CONFIG, String.valueOf(FOREVER));
            // A segment has room for the largest record.
            int segmentBytes = Math.max(SEGMENT_BYTES, settings.maxMessageBytes());
            configs.put(TopicConfig.SEGMENT_BYTES_CONFIG, String.valueOf(segmentBytes));
        }
        configs.putAll(settings.topicProperties());
        NewTopic topic = new NewTopic(name, settings.partitions(), settings.replicationFactor()).configs(configs);
        try {
            admin.createTopics(List.of(topic)).all().get();
            LOG.info("Created the topic {} with {} partitions", name, settings.partitions());
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) {
                throw failure(e, "create the topic '" + name + "'");
            }
            LOG.debug("Another subtask has created the topic {} meanwhile", name);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private void check() throws StoreException {
        Config config = config();
        String cleanup = config.get(TopicConfig.CLEANUP_POLICY_CONFIG).value();
        if (!cleanup.equals(TopicConfig.CLEANUP_POLICY_DELETE)) {
            throw new StoreException(
                    ErrorCode.STORE,
                    "The topic '" + name + "' has cleanup.policy '" + cleanup
                            + "', which deletes records that are still"
                            + " needed. Set it to 'delete', or give another topic with store.kafka.topic");
        }
        long limit =
                Long.parseLong(config.get(TopicConfig.MAX_MESSAGE_BYTES_CONFIG).value());
        if (limit < settings.maxMessageBytes()) {
            LOG.warn(
                    "The topic {} takes records of up to {} bytes (max.message.bytes), journal.max-record-bytes allows {}:"
                            + " a larger record will fail the job. Raise the first to {} or lower the second",
                    name,
                    limit,
                    settings.maxRecordBytes(),
                    settings.maxMessageBytes());
        }
    }

    private Config config() throws StoreException {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, name);
        try {
            return admin.describeConfigs(List.of(resource)).all().get().get(resource);
        } catch (ExecutionException e) {
            throw failure(e, "read the settings of the topic '" + name + "' (right DescribeConfigs)");
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private StoreException failure(ExecutionException e, String attempt) {
        return KafkaFailure.of(e, attempt, settings);
    }

    private StoreException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return KafkaFailure.of(new KafkaException("interrupted", e), "look after the topic '" + name + "'", settings);
    }
}
