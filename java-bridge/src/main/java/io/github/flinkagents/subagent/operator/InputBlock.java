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

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Inputs on their way to the engine, which takes them as one block: {@code i64 now, i64 first ticket, u32 count,
 * (i64 timestamp, u32 key length, u32 value length) × count, (key, value) × count}.
 */
@OnMailboxThread
final class InputBlock {
    private static final int HEAD_BYTES = 2 * Long.BYTES + Integer.BYTES;
    private static final int INPUT_BYTES = Long.BYTES + 2 * Integer.BYTES;

    private final List<Input> inputs = new ArrayList<>();
    private long nextTicket;
    private int handedOver;

    /** Adds an input; tickets follow one another. */
    void add(long ticket, byte[] key, byte[] value, long timestamp) {
        inputs.add(new Input(key, value, timestamp));
        nextTicket = ticket + 1;
    }

    /** Returns all inputs as one block; the engine takes them, except for what {@link #leave} says then. */
    byte[] handOver(long now) {
        int size = HEAD_BYTES;
        for (Input input : inputs) {
            size = Math.addExact(size, INPUT_BYTES + input.key.length + input.value.length);
        }
        ByteBuffer block = ByteBuffer.allocate(size)
                .putLong(now)
                .putLong(nextTicket - inputs.size())
                .putInt(inputs.size());
        for (Input input : inputs) {
            block.putLong(input.timestamp).putInt(input.key.length).putInt(input.value.length);
        }
        for (Input input : inputs) {
            block.put(input.key).put(input.value);
        }
        handedOver = inputs.size();
        return block.array();
    }

    /** Notes that the engine has not taken the last inputs of the block. */
    void leave(int left) {
        handedOver -= left;
    }

    /** Forgets the inputs that the engine has taken; returns how many are left. */
    int forgetTaken() {
        inputs.subList(0, handedOver).clear();
        handedOver = 0;
        return inputs.size();
    }

    private record Input(byte[] key, byte[] value, long timestamp) {}
}
