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
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Decides which parts of which logs make up a tail; no I/O.
 *
 * <p>A key group reads the rest of the log that its position points into, and the logs of all later fences of the same origin
 * that claim it, each up to where a later fence cut it. A fresh start has no position and reads the logs of its own
 * submission whole.
 */
final class TailPlan {
    private final Fence own;
    private final Map<Integer, EmbeddedPosition> positions;

    /**
     * Plans for the attempt of a fence.
     *
     * @param positions a position for each of its key groups, or empty for a fresh start
     */
    TailPlan(Fence own, Map<Integer, EmbeddedPosition> positions) {
        this.own = own;
        this.positions = positions;
    }

    /** The parts to be read, in log order. What is gone is left out. */
    List<LogSlice> slices(FenceView view) {
        int first = own.keyGroups().first();
        int count = own.keyGroups().last() - first + 1;
        long[] floors = isFresh() ? new long[count] : view.floors(first, count);
        List<LogSlice> slices = new ArrayList<>();
        view.countingBefore(own.number(), own.keyGroups())
                .filter(fence -> fence.origin().equals(own.origin()))
                .forEach(fence -> {
                    long[] from = starts(fence, floors);
                    long[] to = new long[count];
                    Arrays.fill(to, Long.MAX_VALUE);
                    view.applyCuts(fence, first, to);
                    LogSlice slice = new LogSlice(fence, first, from, to);
                    // One that holds nothing counts too: its log may be gone.
                    if (slice.lowest() != LogSlice.NOTHING) {
                        slices.add(slice);
                    }
                });
        return slices;
    }

    /** Returns what of the tail is gone, by what the fence files say. */
    Optional<String> missing(FenceView view) {
        return isFresh() ? releasedForCheckpoint(view) : releasedOrRemoved(view);
    }

    private Optional<String> releasedForCheckpoint(FenceView view) {
        return view.floors().stream()
                .map(view.fences()::get)
                .filter(fence -> fence != null && fence.origin().equals(own.origin()))
                .filter(fence -> fence.keyGroups().overlaps(own.keyGroups()))
                .findFirst()
                .map(fence -> "submission " + own.origin() + " completed checkpoints and released what they made"
                        + " unnecessary, but now starts without any checkpoint");
    }

    private Optional<String> releasedOrRemoved(FenceView view) {
        KeyGroups keyGroups = own.keyGroups();
        long[] floors = view.floors(keyGroups.first(), keyGroups.last() - keyGroups.first() + 1);
        return keyGroups.stream()
                .mapToObj(keyGroup -> missing(view, keyGroup, floors[keyGroup - keyGroups.first()]))
                .flatMap(Optional::stream)
                .findFirst();
    }

    private Optional<String> missing(FenceView view, int keyGroup, long floor) {
        long number = positions.get(keyGroup).fence();
        if (floor > number) {
            return Optional.of("the log of attempt " + number + ", in which key group " + keyGroup
                    + " of the checkpoint ends, was released when later checkpoints completed");
        }
        @Nullable Fence fence = view.fences().get(number);
        if (fence == null || !view.counts(fence) || !fence.keyGroups().contains(keyGroup)) {
            return Optional.of("the log of attempt " + number + ", in which key group " + keyGroup
                    + " of the checkpoint ends, is gone");
        }
        return Optional.empty();
    }

    private long[] starts(Fence fence, long[] floors) {
        KeyGroups keyGroups = own.keyGroups();
        long[] from = new long[floors.length];
        for (int i = 0; i < from.length; i++) {
            int keyGroup = keyGroups.first() + i;
            boolean isBehindFloor =
                    fence.number() >= floors[i] && fence.keyGroups().contains(keyGroup);
            from[i] = isBehindFloor ? start(fence.number(), positions.get(keyGroup)) : LogSlice.NOTHING;
        }
        return from;
    }

    private static long start(long number, @Nullable EmbeddedPosition position) {
        if (position == null || number > position.fence()) {
            return 0;
        }
        return number == position.fence() ? position.offset() : LogSlice.NOTHING;
    }

    private boolean isFresh() {
        return positions.isEmpty();
    }
}
