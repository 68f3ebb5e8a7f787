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

import io.github.flinkagents.subagent.protocol.KeyGroups;
import io.github.flinkagents.subagent.protocol.OnMailboxThread;
import io.github.flinkagents.subagent.store.StoreOpening;
import io.github.flinkagents.subagent.store.StorePosition;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How far the store is covered by a checkpoint, for each key group, with the id of the store and the identifier of the job
 * (E4.3, E5.1). Each subtask writes one element for its own key groups; every subtask of a restored job reads all elements
 * and keeps what concerns it, so the parallelism may change in either direction (E4.7).
 */
@OnMailboxThread
final class CheckpointedPositions {
    private static final int VERSION = 1;

    private final ListState<byte[]> elements;

    CheckpointedPositions(OperatorStateStore store) throws Exception {
        elements = store.getUnionListState(
                new ListStateDescriptor<>("store-positions", BytePrimitiveArraySerializer.INSTANCE));
    }

    /** Replaces this subtask's element. */
    void write(Element element) throws Exception {
        elements.update(List.of(encode(element)));
    }

    /** Returns what the restored checkpoint says of these key groups; empty on a fresh start. */
    Optional<Element> restored(KeyGroups keyGroups) throws Exception {
        Map<Integer, StorePosition> positions = new HashMap<>();
        Element last = null;
        for (byte[] bytes : elements.get()) {
            Element element = decode(bytes);
            if (last != null
                    && !(last.storeId.equals(element.storeId) && last.jobIdentifier.equals(element.jobIdentifier))) {
                throw new IllegalStateException("The restored state is of two jobs or stores: " + last.jobIdentifier
                        + " in " + last.storeId + " and " + element.jobIdentifier + " in " + element.storeId);
            }
            element.positions.forEach((keyGroup, position) -> {
                if (keyGroups.contains(keyGroup)) {
                    positions.put(keyGroup, position);
                }
            });
            last = element;
        }
        return last == null
                ? Optional.empty()
                : Optional.of(new Element(last.jobIdentifier, last.storeId, Map.copyOf(positions)));
    }

    private static byte[] encode(Element element) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeByte(VERSION);
        out.writeUTF(element.jobIdentifier);
        out.writeUTF(element.storeId);
        out.writeInt(element.positions.size());
        for (Map.Entry<Integer, StorePosition> entry : element.positions.entrySet()) {
            byte[] position = entry.getValue().bytes();
            out.writeInt(entry.getKey());
            out.writeInt(position.length);
            out.write(position);
        }
        return bytes.toByteArray();
    }

    private static Element decode(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        int version = in.readByte();
        if (version != VERSION) {
            throw new IOException("The restored store positions have format version " + version
                    + "; this release reads version " + VERSION
                    + ". Restore with the release of flink-agents-subagent that took the checkpoint, or a newer one.");
        }
        String jobIdentifier = in.readUTF();
        String storeId = in.readUTF();
        int count = in.readInt();
        Map<Integer, StorePosition> positions = new HashMap<>(count);
        for (int i = 0; i < count; i++) {
            int keyGroup = in.readInt();
            positions.put(keyGroup, StorePosition.of(in.readNBytes(in.readInt())));
        }
        return new Element(jobIdentifier, storeId, positions);
    }

    /**
     * What one checkpoint says.
     *
     * @param jobIdentifier the identifier under which the job runs, whatever a later submission says
     * @param storeId the store that the positions are of
     * @param positions a position for each key group
     */
    record Element(String jobIdentifier, String storeId, Map<Integer, StorePosition> positions) {
        StoreOpening.Restored toRestored() {
            return new StoreOpening.Restored(storeId, positions);
        }
    }
}
