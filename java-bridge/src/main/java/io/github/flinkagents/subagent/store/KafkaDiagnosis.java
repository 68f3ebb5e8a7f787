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
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.LeaderNotAvailableException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.List;
import java.util.concurrent.ExecutionException;

/**
 * Finds out why records were not taken in time. The producer tries again until {@code delivery.timeout.ms} and then says only
 * that time is up, whatever the broker had answered.
 */
final class KafkaDiagnosis {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaDiagnosis.class);
    private static final int ANSWER_MILLIS = 5_000;

    private final Admin admin;
    private final KafkaTopic topic;

    KafkaDiagnosis(Admin admin, KafkaTopic topic) {
        this.admin = admin;
        this.topic = topic;
    }

    /** Returns what is wrong with the partition, or the failure itself when it says enough; blocks. */
    Throwable of(Throwable failure, int partition) {
        if (!(failure instanceof TimeoutException)) {
            return failure;
        }
        try {
            return look(failure, partition);
        } catch (ExecutionException e) {
            return e.getCause() instanceof UnknownTopicOrPartitionException
                    ? new UnknownTopicOrPartitionException("the topic '" + topic.name() + "' does not exist", failure)
                    : failure;
        } catch (InterruptedException e) {
            LOG.debug("Nothing interrupts the commit thread on purpose", e);
            return failure;
        }
    }

    private Throwable look(Throwable failure, int partition) throws ExecutionException, InterruptedException {
        TopicDescription found = admin.describeTopics(
                        List.of(topic.name()), new DescribeTopicsOptions().timeoutMs(ANSWER_MILLIS))
                .allTopicNames()
                .get()
                .get(topic.name());
        if (!found.topicId().equals(topic.id())) {
            return new UnknownTopicOrPartitionException(
                    "the topic '" + topic.name() + "' was deleted and made again", failure);
        }
        TopicPartitionInfo info = found.partitions().get(partition);
        if (info.leader() == null || info.leader().isEmpty()) {
            return new LeaderNotAvailableException(topic.at(partition) + " has no leader: its brokers "
                    + info.replicas() + " are down. " + failure.getMessage());
        }
        int needed = Math.min(minInSyncReplicas(), info.replicas().size());
        return info.isr().size() < needed
                ? new NotEnoughReplicasException(
                        topic.at(partition) + " has " + info.isr().size() + " replicas in sync, min.insync.replicas is "
                                + needed + ". " + failure.getMessage())
                : failure;
    }

    private int minInSyncReplicas() throws ExecutionException, InterruptedException {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic.name());
        String value = admin.describeConfigs(List.of(resource))
                .all()
                .get()
                .get(resource)
                .get(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG)
                .value();
        return Integer.parseInt(value);
    }
}
