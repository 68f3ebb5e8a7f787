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
import org.apache.kafka.common.acl.AclOperation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Map;
import java.util.Optional;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.opening;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/** The topic: made when missing, taken as it is when present, refused when it cannot keep records [S2.1]. */
class KafkaTopicSetupITCase {
    private static final String RELOCATED =
            "io/github/flinkagents/subagent/shaded/org/apache/kafka/clients/producer/KafkaProducer.class";

    private final TestBroker broker = TestBroker.shared();
    private final TopicTools tools = new TopicTools(broker);
    private final Map<String, Object> options = KafkaTesting.impatient(KafkaTesting.options(broker.address()));
    private final String topic = KafkaTesting.topic(options);

    @AfterEach
    void close() {
        tools.close();
    }

    /** When these tests see the store as it is in the jar, its client has another name than the tests' own [S2.6]. */
    @Test
    void clientInTheJar_isRelocated() {
        assumeThat(KafkaActionStateStore.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation())
                .asString()
                .endsWith(".jar");

        assertThat(KafkaActionStateStore.class.getClassLoader().getResource(RELOCATED))
                .isNotNull();
    }

    /** A missing topic is made as the options say, deletes nothing by time, and takes the largest record [S2.1, E3.13]. */
    @Test
    void missingTopic_isCreated() throws StoreException {
        open(options).close();

        assertThat(tools.replicas(topic)).isEqualTo(1);
        assertThat(tools.end(topic, KafkaTesting.PARTITIONS - 1)).isEqualTo(1);
        assertThat(tools.config(topic, "cleanup.policy")).isEqualTo(Optional.of("delete"));
        assertThat(tools.config(topic, "retention.ms")).isEqualTo(Optional.of("-1"));
        assertThat(tools.config(topic, "segment.bytes")).isEqualTo(Optional.of(String.valueOf(16 * 1024 * 1024)));
        assertThat(tools.config(topic, "max.message.bytes")).isEqualTo(Optional.of(String.valueOf(11 * 1024 * 1024)));
    }

    /** A missing topic gets the properties that were given, in the place of the store's own [S2.1]. */
    @Test
    void missingTopic_getsTheGivenProperties() throws StoreException {
        options.put("store.kafka.topic-properties.segment.bytes", "12582912");
        options.put("store.kafka.topic-properties.min.insync.replicas", "1");

        open(options).close();

        assertThat(tools.config(topic, "segment.bytes")).isEqualTo(Optional.of("12582912"));
        assertThat(tools.config(topic, "min.insync.replicas")).isEqualTo(Optional.of("1"));
    }

    /** A property that the brokers do not take is named, with the topic that was to be created [S2.1, S1.3]. */
    @Test
    void wrongTopicProperty_isNamed() {
        options.put("store.kafka.topic-properties.segment.bytes", "lots");

        assertThat(failureToOpen(options))
                .hasMessageContaining("create the topic '" + topic + "'")
                .hasMessageContaining("segment.bytes");
    }

    /** A present topic is used as it is [S2.1]. */
    @Test
    void presentTopic_isNotAltered() throws StoreException {
        tools.create("named-" + topic, 3, Map.of("retention.ms", "86400000"));
        options.put("store.kafka.topic", "named-" + topic);

        try (StoreAttempt attempt = open(options)) {
            attempt.record(record(127, 1, 1));
        }

        assertThat(tools.config("named-" + topic, "retention.ms")).isEqualTo(Optional.of("86400000"));
        assertThat(tools.end("named-" + topic, 2)).isEqualTo(2);
    }

    /** A topic that is compacted is refused, naming topic, policy and remedy [S2.1]. */
    @ParameterizedTest
    @ValueSource(strings = {"compact", "compact,delete"})
    void compactedTopic_isRefused(String policy) {
        tools.create(topic, 1, Map.of("cleanup.policy", policy));

        StoreException failure = failureToOpen(options);

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE);
        assertThat(failure)
                .hasMessageContaining(topic)
                .hasMessageContaining("'" + policy + "'")
                .hasMessageContaining("'delete'");
        assertThat(tools.end(topic, 0)).isZero();
    }

    /** However a topic or the client packs records, they are read again [S2.3]. */
    @ParameterizedTest
    @ValueSource(strings = {"zstd", "snappy", "gzip", "lz4", "uncompressed"})
    void anyCompression_works(String compression) throws StoreException {
        tools.create(topic, 1, Map.of("compression.type", compression));
        try (StoreAttempt attempt = open(options)) {
            attempt.record(record(5, 1, 1));
        }

        try (StoreAttempt again = open(options)) {
            assertThat(again.tail()).containsExactly(record(5, 1, 1));
        }
    }

    /** More replicas than brokers are refused by the broker; the option is named [S2.1]. */
    @Test
    void tooManyReplicas_areNamed() {
        options.put("store.kafka.replication-factor", 3);

        assertThat(failureToOpen(options)).hasMessageContaining("store.kafka.replication-factor");
    }

    /** A missing right is named, whichever it is [S2.1]. */
    @ParameterizedTest
    @EnumSource(names = {"CREATE", "DESCRIBE_CONFIGS", "WRITE", "READ"})
    void missingRight_isNamed(AclOperation missing) {
        Map<String, Object> secured = KafkaTesting.impatient(KafkaTesting.secured(broker));
        String securedTopic = KafkaTesting.topic(secured);
        for (AclOperation right : new AclOperation[] {
            AclOperation.CREATE, AclOperation.DESCRIBE_CONFIGS, AclOperation.WRITE, AclOperation.READ
        }) {
            if (right != missing) {
                tools.allow(securedTopic, right);
            }
        }

        StoreException failure = failureToOpen(secured);

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE);
        assertThat(failure.retryable()).isFalse();
        assertThat(failure).hasMessageContaining(securedTopic).hasMessageContaining("needs the rights");
    }

    /** A class name of Kafka's in a property works although the client in the jar has another one; so does what it logs in to [S2.1, S2.6]. */
    @Test
    void rights_areEnough() throws StoreException {
        Map<String, Object> secured = KafkaTesting.impatient(KafkaTesting.secured(broker));
        tools.allow(
                KafkaTesting.topic(secured),
                AclOperation.CREATE,
                AclOperation.DESCRIBE_CONFIGS,
                AclOperation.WRITE,
                AclOperation.READ,
                AclOperation.DELETE);

        try (StoreAttempt attempt = open(secured)) {
            attempt.record(record(5, 1, 1));
        }
    }

    /** A wrong password is named as such [S2.1]. */
    @Test
    void wrongPassword_isNamed() {
        Map<String, Object> secured = KafkaTesting.impatient(KafkaTesting.secured(broker));
        secured.computeIfPresent(
                "store.kafka.properties.sasl.jaas.config",
                (name, value) -> value.toString().replace("job-secret", "no"));

        assertThat(failureToOpen(secured)).hasMessageContaining("credentials in store.kafka.properties.*");
    }

    /** A property that the client does not understand is quoted with what is wrong [S2.1]. */
    @Test
    void wrongProperty_isNamed() {
        StoreException failure = failureToOpen(KafkaTesting.with(options, "linger.ms", "soon"));

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE);
        assertThat(failure).hasMessageContaining("linger.ms").hasMessageContaining("soon");
    }

    /** Brokers that do not answer are named with their option [S2.1]. */
    @Test
    void noBroker_isNamed() {
        options.put("store.kafka.bootstrap-servers", "127.0.0.1:1");

        StoreException failure = failureToOpen(options);

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE);
        assertThat(failure).hasMessageContaining("127.0.0.1:1").hasMessageContaining("store.kafka.bootstrap-servers");
    }

    private static StoreException failureToOpen(Map<String, Object> options) {
        return catchThrowableOfType(StoreException.class, () -> open(options));
    }

    private static StoreAttempt open(Map<String, Object> options) throws StoreException {
        return StoreAttempt.open(KafkaTesting.store(options), opening("sub", ALL, StoreOpening.Restored.NONE));
    }
}
