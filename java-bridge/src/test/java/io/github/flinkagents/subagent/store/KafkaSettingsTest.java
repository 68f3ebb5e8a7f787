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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Map;
import java.util.UUID;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Options, names and positions of the Kafka store [S2.1, S2.2]. */
class KafkaSettingsTest {
    private final Map<String, Object> options = KafkaTesting.options("broker:9092");

    /** Client properties keep their own names; the store is the one named [S2.1]. */
    @Test
    void properties_areTakenOver() {
        Map<String, Object> more = KafkaTesting.with(options, "security.protocol", "SSL");

        assertThat(KafkaSettings.of(more).properties()).containsExactly(Map.entry("security.protocol", "SSL"));
        assertThat(StoreSettings.of(withEmbedded(more)).create()).isInstanceOf(KafkaActionStateStore.class);
    }

    /** A property on which guarantees rest is refused by name [S2.3]. */
    @ParameterizedTest
    @ValueSource(strings = {"acks", "enable.idempotence", "transactional.id", "auto.offset.reset", "key.serializer"})
    void propertiesOfTheStore_areRefused(String property) {
        assertThatThrownBy(() -> KafkaSettings.of(KafkaTesting.with(options, property, "x")))
                .hasMessageContaining("store.kafka.properties." + property)
                .hasMessageContaining("remove the option");
    }

    /** So is a property of the topic by which it would lose records [S2.1, S2.5]. */
    @ParameterizedTest
    @ValueSource(strings = {"cleanup.policy", "max.message.bytes", "retention.bytes", "retention.ms"})
    void topicPropertiesOfTheStore_areRefused(String property) {
        options.put("store.kafka.topic-properties." + property, "x");

        assertThatThrownBy(() -> KafkaSettings.of(options))
                .hasMessageContaining("store.kafka.topic-properties." + property)
                .hasMessageContaining("remove the option");
    }

    /** Without brokers the option to set is named [S2.1]. */
    @Test
    void missingBrokers_areNamed() {
        options.remove("store.kafka.bootstrap-servers");

        assertThatThrownBy(() -> KafkaSettings.of(options))
                .hasMessageContaining("'store.kafka.bootstrap-servers' is not set");
    }

    /** Names of Kafka's classes follow the client to where it is; everything else stays [S2.1, S2.6]. */
    @Test
    void classNames_followTheClient() {
        String login = "org.apache.kafka.common.security.plain.PlainLoginModule required password=\"org.apache.kafk\";";

        assertThat(KafkaClients.relocated(login, "shaded.org.apache.kafka.clients.producer"))
                .isEqualTo("shaded." + login);
        assertThat(KafkaClients.relocated(login, "org.apache.kafka.clients.producer"))
                .isEqualTo(login);
    }

    /** A topic's name shows job and operator as far as it can [S1.6, S2.1]. */
    @ParameterizedTest
    @CsvSource({
        "fraud_check-2,agent-triage,p.fraud_check-2.agent-triage",
        "a.b,agent-x,p.a-b-2e7336dc8eba87ef472df568.agent-x"
    })
    void topic_isNamedAfterJobAndOperator(String job, String uid, String topic) {
        assertThat(KafkaTopicName.of("p", job, uid)).isEqualTo(topic);
    }

    /** Different jobs have different topics, and each name is one that Kafka takes [S1.6]. */
    @Test
    void topics_areDifferent() {
        String endless = "x".repeat(300);
        List<String> names = List.of(
                KafkaTopicName.of("p", "a.b", "c"),
                KafkaTopicName.of("p", "a", "b.c"),
                KafkaTopicName.of("p", "a-b", "c"),
                KafkaTopicName.of("p", "a/b", "c"),
                KafkaTopicName.of("p", "", ""),
                KafkaTopicName.of("p", "..", "ключ"),
                KafkaTopicName.of("p", endless, endless),
                KafkaTopicName.of("p", endless + "y", endless));

        assertThat(names).doesNotHaveDuplicates().allMatch(name -> name.matches("[A-Za-z0-9._-]{1,249}"));
    }

    /** Key groups are spread over all partitions in ranges, so that a subtask has few to read [S2.2]. */
    @Test
    void partitions_areRangesOfKeyGroups() {
        KafkaTopic topic = new KafkaTopic("t", org.apache.kafka.common.Uuid.ZERO_UUID, 32, 128);

        assertThat(topic.partitionOf(0)).isZero();
        assertThat(topic.partitionOf(127)).isEqualTo(31);
        assertThat(topic.partitionsOf(new io.github.flinkagents.subagent.protocol.KeyGroups(0, 63)))
                .containsExactly(java.util.stream.IntStream.range(0, 16).toArray());
        assertThat(topic.firstKeyGroupOf(31)).isEqualTo(124);
        assertThat(new KafkaTopic("t", org.apache.kafka.common.Uuid.ZERO_UUID, 1000, 32768).partitionOf(32767))
                .isEqualTo(999);
    }

    /** A position comes back as it was; one of another store is refused [E4.3]. */
    @Test
    void position_comesBack() throws StoreException {
        KafkaPosition position = new KafkaPosition(9, 32, 1L << 40, new UUID(1, 2), 77, "sub ключ");

        assertThat(KafkaPosition.decode(position.encode())).isEqualTo(position);
        assertThatThrownBy(
                        () -> KafkaPosition.decode(new EmbeddedPosition(1, 2, "a submission of some length").encode()))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("none of the Kafka store");
    }

    private static Map<String, Object> withEmbedded(Map<String, Object> options) {
        options.put("store.embedded.dir", "/unused");
        return options;
    }
}
