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

import io.github.flinkagents.subagent.protocol.KeyGroups;

import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What the fence files said at one moment.
 *
 * <p>A fence counts once its cut is published. One that was published too late counts never: when a later fence on a common
 * key group had taken its ends without it, that later opener read without its cut, and this opener, looking after its
 * publication, saw the later fence and gave up. So every reader, however late, arrives at the same set.
 *
 * @param fences the readable fences by number
 * @param cuts for each published cut: the end of each older log that it knew, by fence number
 * @param floors the fences before which their key groups need nothing
 * @param unreadable fences that are being written, or whose opener died while it wrote them
 */
record FenceView(
        NavigableMap<Long, Fence> fences, Map<Long, Map<Long, Long>> cuts, Set<Long> floors, Set<Long> unreadable) {

    /** Whether the fence counts: its opener may have read and written. */
    boolean counts(Fence fence) {
        return cuts.containsKey(fence.number())
                && cutsAfter(fence.number(), fence.keyGroups())
                        .allMatch(later -> cuts.get(later.number()).containsKey(fence.number()));
    }

    /** The fences that count and claim a common key group, below a number, ascending. */
    Stream<Fence> countingBefore(long number, KeyGroups keyGroups) {
        return fences.headMap(number).values().stream()
                .filter(fence -> fence.keyGroups().overlaps(keyGroups))
                .filter(this::counts);
    }

    /** Whether a later fence claims a common key group, published or not. */
    boolean isClaimedAfter(long number, KeyGroups keyGroups) {
        return fences.tailMap(number, false).values().stream()
                .anyMatch(fence -> fence.keyGroups().overlaps(keyGroups));
    }

    /** Lowers {@code ends[i]} to where the log of a fence ends for key group {@code first + i}. */
    void applyCuts(Fence fence, int first, long[] ends) {
        KeyGroups span = new KeyGroups(first, first + ends.length - 1);
        cutsAfter(fence.number(), fence.keyGroups()).filter(this::counts).forEach(later -> {
            long cut = cuts.get(later.number()).getOrDefault(fence.number(), 0L);
            later.keyGroups().stream()
                    .filter(span::contains)
                    .forEach(keyGroup -> ends[keyGroup - first] = Math.min(ends[keyGroup - first], cut));
        });
    }

    /** Returns for {@code length} key groups from {@code first} the fence before which nothing is needed, 0 for none. */
    long[] floors(int first, int length) {
        long[] found = new long[length];
        floors.stream()
                .filter(fences::containsKey)
                .forEach(number -> fences.get(number).keyGroups().stream()
                        .filter(keyGroup -> first <= keyGroup && keyGroup < first + length)
                        .forEach(keyGroup -> found[keyGroup - first] = Math.max(found[keyGroup - first], number)));
        return found;
    }

    private Stream<Fence> cutsAfter(long number, KeyGroups keyGroups) {
        return fences.tailMap(number, false).values().stream()
                .filter(fence -> fence.keyGroups().overlaps(keyGroups))
                .filter(fence -> cuts.containsKey(fence.number()));
    }
}
