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

import java.util.Arrays;
import java.util.HexFormat;

/** A place in the store behind which a restore reads on; bytes that only the store that made them understands. */
public final class StorePosition {
    private final byte[] bytes;

    private StorePosition(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Makes a position of the bytes of an earlier one. */
    public static StorePosition of(byte[] bytes) {
        return new StorePosition(bytes.clone());
    }

    /** The bytes to be kept in a checkpoint. */
    public byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StorePosition that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
