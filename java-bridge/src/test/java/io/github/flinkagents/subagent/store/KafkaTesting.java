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

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Kafka stores for tests, each with topics of its own. Options go the way that those of a submission go. */
final class KafkaTesting {
    static final int PARTITIONS = 4;

    private static final AtomicInteger PREFIXES = new AtomicInteger();

    private KafkaTesting() {}

    /** The options of a store on a broker, under a topic prefix that no other test has. */
    static Map<String, Object> options(String bootstrapServers) {
        Map<String, Object> options = new HashMap<>();
        options.put("action-state-store", "kafka");
        options.put("store.on-corrupt", "fail");
        options.put("store.allow-lost-tail", false);
        options.put("store.retained-checkpoints", 2);
        options.put("journal.max-record-bytes", 10 * 1024 * 1024);
        options.put("store.kafka.bootstrap-servers", bootstrapServers);
        options.put("store.kafka.topic-prefix", "test-" + PREFIXES.incrementAndGet());
        options.put("store.kafka.partitions", PARTITIONS);
        options.put("store.kafka.replication-factor", -1);
        return options;
    }

    /** Puts client properties among the options. */
    static Map<String, Object> with(Map<String, Object> options, String... properties) {
        Map<String, Object> more = new HashMap<>(options);
        for (int i = 0; i < properties.length; i += 2) {
            more.put("store.kafka.properties." + properties[i], properties[i + 1]);
        }
        return more;
    }

    /** Makes the producer give up soon. */
    static Map<String, Object> impatient(Map<String, Object> options) {
        return with(
                options,
                "request.timeout.ms",
                "1000",
                "delivery.timeout.ms",
                "3000",
                "max.block.ms",
                "3000",
                "default.api.timeout.ms",
                "5000");
    }

    static ActionStateStore store(Map<String, Object> options) {
        return StoreSettings.of(options).create();
    }

    /** The topic of the job that {@link StoreAttempt#opening} names. */
    static String topic(Map<String, Object> options) {
        return options.get("store.kafka.topic-prefix") + ".job.agent-x";
    }

    /** Options of the user {@code job}, who may do only what an ACL allows. */
    static Map<String, Object> secured(TestBroker broker) {
        return with(
                options(broker.saslAddress()),
                "security.protocol",
                "SASL_PLAINTEXT",
                "sasl.mechanism",
                "PLAIN",
                "sasl.jaas.config",
                "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"job\""
                        + " password=\"job-secret\";");
    }
}
