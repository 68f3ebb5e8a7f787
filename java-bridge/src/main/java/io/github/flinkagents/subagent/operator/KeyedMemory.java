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
package io.github.flinkagents.subagent.operator;

import io.github.flinkagents.subagent.protocol.OnMailboxThread;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * What Flink keeps for a key beside its active run: short-term memory, one entry for each path, and the number of its last
 * run (E5.2, E6). The number never expires: it is what keeps identities of the key's runs apart.
 */
@OnMailboxThread
final class KeyedMemory {
    private static final int REMOVED = -1;

    private final CurrentKey key;
    private final MapState<String, byte[]> entries;
    private final ValueState<Long> runNumber;

    KeyedMemory(CurrentKey key, KeyedStateStore store, @Nullable Duration timeToLive) {
        this.key = key;
        MapStateDescriptor<String, byte[]> memory =
                new MapStateDescriptor<>("memory", StringSerializer.INSTANCE, BytePrimitiveArraySerializer.INSTANCE);
        if (timeToLive != null) {
            memory.enableTimeToLive(StateTtlConfig.newBuilder(timeToLive).build());
        }
        this.entries = store.getMapState(memory);
        this.runNumber = store.getState(new ValueStateDescriptor<>("run-number", LongSerializer.INSTANCE));
    }

    /** Returns the entry at a path of a key, null when there is none. */
    byte @Nullable [] read(byte[] ofKey, byte[] path) throws Exception {
        key.select(ofKey);
        return entries.get(name(path));
    }

    /** Writes the entries of a key: {@code (u32 path length, path, i32 value length or −1 to remove, value)*}. */
    void write(byte[] ofKey, byte[] packed) throws Exception {
        key.select(ofKey);
        ByteBuffer buffer = ByteBuffer.wrap(packed);
        while (buffer.hasRemaining()) {
            String path = name(take(buffer, buffer.getInt()));
            int length = buffer.getInt();
            if (length == REMOVED) {
                entries.remove(path);
            } else {
                entries.put(path, take(buffer, length));
            }
        }
    }

    /** Returns the highest run number written for a key, 0 when there is none. */
    long runNumber(byte[] ofKey) throws Exception {
        key.select(ofKey);
        Long number = runNumber.value();
        return number == null ? 0 : number;
    }

    /** Keeps the highest run number of a key. */
    void writeRunNumber(byte[] ofKey, long number) throws Exception {
        key.select(ofKey);
        runNumber.update(number);
    }

    /** A path is any bytes; as text of one char per byte every path has a name of its own. */
    private static String name(byte[] path) {
        return new String(path, StandardCharsets.ISO_8859_1);
    }

    private static byte[] take(ByteBuffer buffer, int length) {
        byte[] bytes = new byte[length];
        buffer.get(bytes);
        return bytes;
    }
}
