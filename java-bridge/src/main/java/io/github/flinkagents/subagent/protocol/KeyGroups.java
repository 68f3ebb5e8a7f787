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
package io.github.flinkagents.subagent.protocol;

import org.apache.flink.runtime.state.KeyGroupRangeAssignment;

import java.util.stream.IntStream;

/**
 * A range of key groups, both ends included.
 *
 * @param first the lowest key group, from 0
 * @param last the highest key group, at least {@code first}
 */
public record KeyGroups(int first, int last) {
    public KeyGroups {
        if (first < 0 || last < first) {
            throw new IllegalArgumentException("Key groups " + first + " to " + last + " are no range");
        }
    }

    /** Returns the key group of canonical key bytes, as Flink assigns it to the key that {@link KeyBytes} makes of them. */
    @OnAnyThread
    public static int of(byte[] keyBytes, int maxParallelism) {
        return KeyGroupRangeAssignment.assignToKeyGroup(KeyBytes.toFlinkKey(keyBytes), maxParallelism);
    }

    /** Whether the range holds this key group. */
    public boolean contains(int keyGroup) {
        return first <= keyGroup && keyGroup <= last;
    }

    /** Whether the ranges have a key group in common. */
    public boolean overlaps(KeyGroups other) {
        return first <= other.last && other.first <= last;
    }

    /** The key groups, ascending. */
    public IntStream stream() {
        return IntStream.rangeClosed(first, last);
    }

    @Override
    public String toString() {
        return first + "-" + last;
    }
}
