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

import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The options of the Kafka store, resolved.
 *
 * @param bootstrapServers where brokers answer ({@code store.kafka.bootstrap-servers})
 * @param topic the topic, or null for one of this job and operator alone ({@code store.kafka.topic})
 * @param topicPrefix begins the names of such topics ({@code store.kafka.topic-prefix})
 * @param partitions of a topic that is created ({@code store.kafka.partitions})
 * @param replicationFactor of a topic that is created; -1 for the broker's default ({@code store.kafka.replication-factor})
 * @param maxRecordBytes largest payload ({@code journal.max-record-bytes})
 * @param properties of the clients ({@code store.kafka.properties.*}), by their Kafka names
 * @param topicProperties of a topic that is created ({@code store.kafka.topic-properties.*}), by their Kafka names
 */
record KafkaSettings(
        String bootstrapServers,
        @Nullable String topic,
        String topicPrefix,
        int partitions,
        short replicationFactor,
        int maxRecordBytes,
        Map<String, String> properties,
        Map<String, String> topicProperties) {
    static final String PROPERTIES = "store.kafka.properties.";
    static final String TOPIC_PROPERTIES = "store.kafka.topic-properties.";

    private static final String BOOTSTRAP_SERVERS = "store.kafka.bootstrap-servers";
    /** Room for key, header and framing beside the payload. */
    private static final int OVERHEAD_BYTES = 1024 * 1024;
    /** What the store's guarantees rest on, or what it has an option of its own for. */
    private static final Set<String> OWN = Set.of(
            "acks",
            "auto.offset.reset",
            "bootstrap.servers",
            "client.id",
            "enable.auto.commit",
            "enable.idempotence",
            "group.id",
            "interceptor.classes",
            "isolation.level",
            "key.deserializer",
            "key.serializer",
            "max.in.flight.requests.per.connection",
            "partitioner.class",
            "transactional.id",
            "value.deserializer",
            "value.serializer");
    /** The same of a topic. */
    private static final Set<String> OWN_OF_TOPIC =
            Set.of("cleanup.policy", "max.message.bytes", "retention.bytes", "retention.ms");

    KafkaSettings {
        properties = Map.copyOf(properties);
        topicProperties = Map.copyOf(topicProperties);
        refuse(OWN, PROPERTIES, properties);
        refuse(OWN_OF_TOPIC, TOPIC_PROPERTIES, topicProperties);
    }

    /**
     * Reads the resolved options of a submission.
     *
     * @throws IllegalArgumentException when an option is missing or has another value than it can have
     */
    static KafkaSettings of(Map<String, ? extends @Nullable Object> options) {
        if (options.get(BOOTSTRAP_SERVERS) == null) {
            throw new IllegalArgumentException("option 'action-state-store' is 'kafka', but '" + BOOTSTRAP_SERVERS
                    + "' is not set; give the addresses of brokers, as in 'broker-1:9092,broker-2:9092'");
        }
        Object topic = options.get("store.kafka.topic");
        return new KafkaSettings(
                StoreSettings.required(BOOTSTRAP_SERVERS, options),
                topic == null ? null : topic.toString(),
                StoreSettings.required("store.kafka.topic-prefix", options),
                Integer.parseInt(StoreSettings.required("store.kafka.partitions", options)),
                Short.parseShort(StoreSettings.required("store.kafka.replication-factor", options)),
                Integer.parseInt(StoreSettings.required("journal.max-record-bytes", options)),
                family(PROPERTIES, options),
                family(TOPIC_PROPERTIES, options));
    }

    /** The largest record that the store may hand to the client, and that a topic must take. */
    int maxMessageBytes() {
        return Math.addExact(maxRecordBytes, OVERHEAD_BYTES);
    }

    /** How long an answer of the brokers may take. */
    long apiTimeoutMillis() {
        return Long.parseLong(properties.getOrDefault("default.api.timeout.ms", "60000"));
    }

    /** Whether the topic belongs to one job and operator alone. */
    boolean isDedicated() {
        return topic == null;
    }

    private static Map<String, String> family(String prefix, Map<String, ? extends @Nullable Object> options) {
        Map<String, String> members = new TreeMap<>();
        options.forEach((name, value) -> {
            if (name.startsWith(prefix) && value != null) {
                members.put(name.substring(prefix.length()), value.toString());
            }
        });
        return members;
    }

    private static void refuse(Set<String> own, String prefix, Map<String, String> given) {
        for (String property : given.keySet()) {
            if (own.contains(property)) {
                throw new IllegalArgumentException("option '" + prefix + property + "' cannot be set: the store's"
                        + " guarantees rest on its own value; remove the option");
            }
        }
    }
}
