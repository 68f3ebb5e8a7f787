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
import io.github.flinkagents.subagent.store.JournalRecord;

import java.nio.ByteBuffer;

/**
 * The effects of an entry call as one block, in their order; performs them. Each begins with a tag byte; numbers are
 * big-endian (decision 0003). The Python half of the same name writes it.
 */
@OnMailboxThread
final class EffectBlock {
    private static final byte EMIT = 1;
    private static final byte DEAD_LETTER = 2;
    private static final byte APPEND = 3;
    private static final byte INPUT_FINISHED = 4;
    private static final byte WRITE_MEMORY = 5;
    private static final byte WRITE_RUN_NUMBER = 6;
    private static final byte SET_TIMER = 7;
    private static final byte LEAVE_INPUTS = 8;

    private final EngineHost.Effects effects;
    private final int maxParallelism;

    EffectBlock(EngineHost.Effects effects, int maxParallelism) {
        this.effects = effects;
        this.maxParallelism = maxParallelism;
    }

    /** Performs the effects of a block. */
    void perform(byte[] block) throws Exception {
        ByteBuffer rest = ByteBuffer.wrap(block);
        while (rest.hasRemaining()) {
            performNext(rest);
        }
    }

    private void performNext(ByteBuffer rest) throws Exception {
        byte tag = rest.get();
        switch (tag) {
            case EMIT -> emit(rest);
            case DEAD_LETTER -> emitDeadLetter(rest);
            case APPEND -> append(rest);
            case INPUT_FINISHED -> effects.held().finished(rest.getLong());
            case WRITE_MEMORY -> writeMemory(rest);
            case WRITE_RUN_NUMBER -> {
                long number = rest.getLong();
                effects.memory().writeRunNumber(bytes(rest, rest.getInt()), number);
            }
            case SET_TIMER -> effects.timer().set(rest.getLong());
            case LEAVE_INPUTS -> effects.inputs().leave(rest.getInt());
            default -> throw new IllegalStateException("The engine's effects hold the unknown tag " + tag);
        }
    }

    private void emit(ByteBuffer rest) throws Exception {
        long timestamp = rest.getLong();
        effects.outputs().emit(bytes(rest, rest.getInt()), timestamp);
    }

    private void emitDeadLetter(ByteBuffer rest) throws Exception {
        long timestamp = rest.getLong();
        effects.outputs().emitDeadLetter(bytes(rest, rest.getInt()), timestamp);
    }

    private void append(ByteBuffer rest) {
        long seq = rest.getLong();
        long runNumber = rest.getLong();
        int recordNumber = rest.getInt();
        int keyLength = rest.getInt();
        int payloadLength = rest.getInt();
        byte[] key = bytes(rest, keyLength);
        byte[] payload = bytes(rest, payloadLength);
        effects.journal()
                .append(
                        seq,
                        new JournalRecord(KeyGroups.of(key, maxParallelism), key, runNumber, recordNumber, payload));
    }

    private void writeMemory(ByteBuffer rest) throws Exception {
        int keyLength = rest.getInt();
        int length = rest.getInt();
        effects.memory().write(bytes(rest, keyLength), bytes(rest, length));
    }

    private static byte[] bytes(ByteBuffer rest, int length) {
        byte[] bytes = new byte[length];
        rest.get(bytes);
        return bytes;
    }
}
