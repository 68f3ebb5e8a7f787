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

import org.jspecify.annotations.Nullable;

import java.lang.reflect.Method;

/** Reads the parts of a record of the Kafka client, under whatever name its class goes. */
final class ConsumedMessage {
    private final Method key;
    private final Method value;
    private final Method topic;
    private final Method partition;
    private final Method offset;

    ConsumedMessage(Class<?> type) throws NoSuchMethodException {
        key = type.getMethod("key");
        value = type.getMethod("value");
        topic = type.getMethod("topic");
        partition = type.getMethod("partition");
        offset = type.getMethod("offset");
    }

    byte @Nullable [] key(Object message) throws ReflectiveOperationException {
        return (byte[]) key.invoke(message);
    }

    byte @Nullable [] value(Object message) throws ReflectiveOperationException {
        return (byte[]) value.invoke(message);
    }

    /** Where the message lies, as {@code topic-partition, offset n}. */
    String address(Object message) throws ReflectiveOperationException {
        return topic.invoke(message) + "-" + partition.invoke(message) + ", offset " + offset.invoke(message);
    }
}
