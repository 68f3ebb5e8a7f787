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

import io.github.flinkagents.subagent.protocol.OnAnyThread;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Locale;

/**
 * Reads a Kafka message as {@code Row(key, value)}, so that the key of the message can be the key of the agent (P7).
 *
 * <p>It stands behind a proxy of the connector's own interface. A class that implements that interface would name the Kafka client's
 * record in a signature, and that name differs: between the plain connector and the one for SQL, and in this jar, whose
 * own client is relocated.
 */
@OnAnyThread
public final class KafkaMessageSchema implements InvocationHandler, Serializable {
    private static final long serialVersionUID = 1L;

    private static final String INTERFACE =
            "org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema";

    private final MessagePart key;
    private final MessagePart value;
    private final boolean skipsTombstones;
    private transient @Nullable ConsumedMessage message;

    private KafkaMessageSchema(MessagePart key, MessagePart value, boolean skipsTombstones) {
        this.key = key;
        this.value = value;
        this.skipsTombstones = skipsTombstones;
    }

    /**
     * Returns a {@code KafkaRecordDeserializationSchema<Row>} of the connector that the calling thread's class loader knows.
     *
     * @param key name of the key's Python type: {@code str}, {@code bytes}, {@code int}
     * @param value name of the value's Python type: {@code str}, {@code bytes}
     * @param skipsTombstones whether messages without value are passed over; otherwise they fail the task
     */
    public static Object of(String key, String value, boolean skipsTombstones) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        try {
            Class<?>[] interfaces = {Class.forName(INTERFACE, false, loader)};
            var schema = new KafkaMessageSchema(part(key), part(value), skipsTombstones);
            return Proxy.newProxyInstance(loader, interfaces, schema);
        } catch (ClassNotFoundException missing) {
            throw new IllegalStateException(
                    "The job has no Kafka connector. Add its jars with add_jars: flink-sql-connector-kafka, or"
                            + " flink-connector-kafka and kafka-clients.",
                    missing);
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "deserialize" -> {
                collect(arguments[0], (Collector<Row>) arguments[1]);
                return null;
            }
            case "getProducedType" -> {
                return type();
            }
            case "equals" -> {
                return proxy == arguments[0];
            }
            case "hashCode" -> {
                return System.identityHashCode(proxy);
            }
            case "toString" -> {
                return "KafkaMessageSchema(" + key + ", " + value + ")";
            }
            default -> {
                return InvocationHandler.invokeDefault(proxy, method, arguments);
            }
        }
    }

    private TypeInformation<Row> type() {
        return Types.ROW_NAMED(new String[] {"key", "value"}, key.type(), value.type());
    }

    private void collect(Object consumed, Collector<Row> out) throws ReflectiveOperationException {
        if (message == null) {
            message = new ConsumedMessage(consumed.getClass());
        }
        byte[] keyBytes = message.key(consumed);
        byte[] valueBytes = message.value(consumed);
        if (keyBytes == null) {
            throw unusable(
                    consumed,
                    "has no key, by which the agent's inputs are to be keyed. Let its producer set one, or take a"
                            + " stream of the values and give from_datastream a key_selector.");
        }
        if (valueBytes != null) {
            out.collect(Row.of(read("key", key, keyBytes, consumed), read("value", value, valueBytes, consumed)));
        } else if (!skipsTombstones) {
            throw unusable(consumed, "has no value (a tombstone). Pass over such messages with skip_tombstones=True.");
        }
    }

    private Object read(String name, MessagePart part, byte[] bytes, Object consumed)
            throws ReflectiveOperationException {
        Object found = part.read(bytes);
        if (found == null) {
            throw unusable(
                    consumed,
                    "has a " + name + " that is " + part.problem() + ". Take it as bytes (" + name + "_type=bytes).");
        }
        return found;
    }

    private IllegalArgumentException unusable(Object consumed, String problem) throws ReflectiveOperationException {
        return new IllegalArgumentException("The Kafka message at " + message.address(consumed) + " " + problem);
    }

    private static MessagePart part(String python) {
        return MessagePart.valueOf(python.toUpperCase(Locale.ROOT));
    }
}
