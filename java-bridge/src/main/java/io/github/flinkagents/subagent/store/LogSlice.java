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

/**
 * The part of one writer's log that a restore reads; its ends differ between key groups.
 *
 * @param fence whose log
 * @param firstKeyGroup the key group of index 0
 * @param from where each key group starts; {@link #NOTHING} when it reads nothing of this log
 * @param to where each key group ends
 */
record LogSlice(Fence fence, int firstKeyGroup, long[] from, long[] to) {
    static final long NOTHING = Long.MAX_VALUE;

    boolean holds(JournalRecord record, long start, long end) {
        int index = record.keyGroup() - firstKeyGroup;
        return index >= 0 && index < from.length && from[index] <= start && end <= to[index];
    }

    long lowest() {
        return Arrays.stream(from).min().orElse(NOTHING);
    }

    long highest() {
        long highest = 0;
        for (int i = 0; i < to.length; i++) {
            highest = from[i] == NOTHING ? highest : Math.max(highest, to[i]);
        }
        return highest;
    }
}
