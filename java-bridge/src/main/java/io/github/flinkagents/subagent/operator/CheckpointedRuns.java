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

import io.github.flinkagents.subagent.protocol.KeyBytes;
import io.github.flinkagents.subagent.protocol.OnMailboxThread;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.jspecify.annotations.Nullable;

/**
 * The engine's entries in keyed state: active run, queued inputs and unclaimed journals of a key, opaque to Java. Written
 * while a snapshot is taken and at no other time (E4.1).
 */
@OnMailboxThread
final class CheckpointedRuns {
    private final KeyedStateBackend<String> backend;
    private final CurrentKey key;
    private final ValueState<byte[]> entries;

    CheckpointedRuns(KeyedStateBackend<String> backend, CurrentKey key, KeyedStateStore store) {
        this.backend = backend;
        this.key = key;
        this.entries = store.getState(descriptor());
    }

    /** Writes or, with null, clears the entry of a key. */
    void write(byte[] ofKey, byte @Nullable [] entry) throws Exception {
        key.select(ofKey);
        if (entry == null) {
            entries.clear();
        } else {
            entries.update(entry);
        }
    }

    /** Visits every restored entry of this subtask's key groups. */
    void forEach(Visitor visitor) throws Exception {
        backend.applyToAllKeys(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                descriptor(),
                (flinkKey, state) -> visitor.visit(KeyBytes.fromFlinkKey(flinkKey), state.value()));
    }

    /** A new one each time: Flink initialises descriptors in place. */
    private static ValueStateDescriptor<byte[]> descriptor() {
        return new ValueStateDescriptor<>("runs", BytePrimitiveArraySerializer.INSTANCE);
    }

    /** Takes one entry. */
    interface Visitor {
        void visit(byte[] key, byte[] entry) throws Exception;
    }
}
