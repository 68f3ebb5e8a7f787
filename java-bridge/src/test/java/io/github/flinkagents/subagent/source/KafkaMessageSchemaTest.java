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
package io.github.flinkagents.subagent.source;

import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;
import org.apache.flink.util.InstantiationUtil;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Kafka messages become rows of key and value [P7]. */
class KafkaMessageSchemaTest {
    private static final byte[] KEY = text("müller_7");

    @Test
    void textKeyAndValue_becomeARow() throws Exception {
        assertThat(read(schema("str", "str"), KEY, text("{}"))).containsExactly(Row.of("müller_7", "{}"));
        assertThat(schema("str", "str").getProducedType())
                .isEqualTo(Types.ROW_NAMED(new String[] {"key", "value"}, Types.STRING, Types.STRING));
    }

    @Test
    void bytes_areTakenAsTheyAre() throws Exception {
        byte[] anything = {0, -1, 95};

        assertThat(read(schema("bytes", "bytes"), anything, new byte[0]))
                .containsExactly(Row.of(anything, new byte[0]));
        assertThat(schema("bytes", "bytes").getProducedType())
                .isEqualTo(Types.ROW_NAMED(
                        new String[] {"key", "value"},
                        PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO,
                        PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
    }

    @Test
    void wholeNumbers_ofEitherWidth_areOneKindOfKey() throws Exception {
        byte[] narrow = ByteBuffer.allocate(4).putInt(-7).array();
        byte[] wide = ByteBuffer.allocate(8).putLong(-7).array();

        assertThat(read(schema("int", "str"), narrow, KEY)).isEqualTo(read(schema("int", "str"), wide, KEY));
        assertThat(read(schema("int", "str"), wide, KEY).get(0).getField(0)).isEqualTo(-7L);
    }

    @Test
    void messageWithoutKey_failsWithItsAddressAndTheRemedy() {
        assertThatThrownBy(() -> read(schema("str", "str"), null, KEY))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("orders-3, offset 17 has no key")
                .hasMessageContaining("key_selector");
    }

    @Test
    void tombstone_failsUnlessItIsToBePassedOver() throws Exception {
        assertThatThrownBy(() -> read(schema("str", "str"), KEY, null))
                .hasMessageContaining("orders-3, offset 17 has no value")
                .hasMessageContaining("skip_tombstones=True");
        assertThat(read(of("str", "str", true), KEY, null)).isEmpty();
        assertThat(read(of("str", "str", true), KEY, KEY)).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"str, ff, has a key that is no UTF-8", "int, 000000, has a key that is no whole number of 4 or 8 bytes"
    })
    void keyOfAnotherKind_failsWithItsAddressAndTheRemedy(String kind, String hex, String problem) {
        byte[] bytes = java.util.HexFormat.of().parseHex(hex);

        assertThatThrownBy(() -> read(schema(kind, "str"), bytes, KEY))
                .hasMessageContaining("orders-3, offset 17 " + problem)
                .hasMessageContaining("key_type=bytes");
    }

    @Test
    void valueThatIsNoText_failsInsteadOfBeingChanged() {
        assertThatThrownBy(() -> read(schema("str", "str"), KEY, new byte[] {'a', -1}))
                .hasMessageContaining("has a value that is no UTF-8")
                .hasMessageContaining("value_type=bytes");
    }

    @Test
    void schema_worksBehindTheConnectorsBuilderAndOnAnotherMachine() throws Exception {
        var source = KafkaSource.<Row>builder()
                .setBootstrapServers("localhost:1")
                .setTopics("orders")
                .setDeserializer(schema("str", "str"))
                .build();

        byte[] shipped = InstantiationUtil.serializeObject(schema("str", "str"));
        KafkaRecordDeserializationSchema<Row> arrived =
                InstantiationUtil.deserializeObject(shipped, getClass().getClassLoader());
        arrived.open(null);

        assertThat(source.getProducedType()).isEqualTo(arrived.getProducedType());
        assertThat(read(arrived, KEY, KEY)).hasSize(1);
        assertThat(arrived).isEqualTo(arrived).isNotEqualTo(source).hasToString("KafkaMessageSchema(STR, STR)");
        assertThat(arrived.hashCode()).isEqualTo(arrived.hashCode());
    }

    @Test
    void withoutTheConnector_theMessageNamesTheJars() throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (var empty = new URLClassLoader(new URL[0], ClassLoader.getPlatformClassLoader())) {
            thread.setContextClassLoader(empty);
            assertThatThrownBy(() -> KafkaMessageSchema.of("str", "str", false))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("add_jars")
                    .hasMessageContaining("flink-sql-connector-kafka");
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static KafkaRecordDeserializationSchema<Row> schema(String key, String value) {
        return of(key, value, false);
    }

    @SuppressWarnings("unchecked")
    private static KafkaRecordDeserializationSchema<Row> of(String key, String value, boolean skipsTombstones) {
        return (KafkaRecordDeserializationSchema<Row>) KafkaMessageSchema.of(key, value, skipsTombstones);
    }

    private static List<Row> read(
            KafkaRecordDeserializationSchema<Row> schema, byte @Nullable [] key, byte @Nullable [] value)
            throws Exception {
        List<Row> rows = new ArrayList<>();
        schema.deserialize(new ConsumerRecord<>("orders", 3, 17, key, value), new Collector<>() {
            @Override
            public void collect(Row row) {
                rows.add(row);
            }

            @Override
            public void close() {}
        });
        return rows;
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
