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

import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Deletes what no retained checkpoint needs: the own segments before the oldest retained position, and the logs of earlier
 * attempts once every key group of theirs has a floor above them.
 *
 * <p>Order matters: a floor is durable before anything below it is deleted, so that a restore that misses a log knows why.
 * Fence files go from the lowest number on only, see {@link FenceDirectory}.
 *
 * <p>Thread: the commit thread.
 */
final class Release {
    private final FenceDirectory fences;
    private final Fence own;
    private final SegmentWriter log;
    private boolean hasFloor;

    Release(FenceDirectory fences, Fence own, SegmentWriter log) {
        this.fences = fences;
        this.own = own;
        this.log = log;
    }

    void run(Map<Integer, EmbeddedPosition> oldestRetained) throws IOException, StoreException {
        if (oldestRetained.values().stream().allMatch(position -> position.fence() == own.number())) {
            if (!hasFloor) {
                fences.publishFloor(own.number());
                hasFloor = true;
            }
            log.deleteBefore(oldestRetained.values().stream()
                    .mapToLong(EmbeddedPosition::offset)
                    .min()
                    .orElse(0));
        }
        sweep(fences.view());
    }

    private void sweep(FenceView view) throws IOException {
        SortedSet<Long> earlier = new TreeSet<>(view.fences().keySet());
        earlier.addAll(view.unreadable());
        boolean isLowest = true;
        for (long number : earlier.headSet(own.number())) {
            if (!isBelowFloors(view, number)) {
                isLowest = false;
                continue;
            }
            DurableFiles.deleteFolder(fences.writerFolder(number));
            if (isLowest) {
                fences.remove(number);
            }
        }
    }

    private static boolean isBelowFloors(FenceView view, long number) {
        Fence fence = view.fences().get(number);
        if (fence == null) {
            // Written in part: its opener is dead, or sees that its fence is gone before it writes anything.
            return view.floors().stream().anyMatch(floor -> floor > number);
        }
        int first = fence.keyGroups().first();
        return Arrays.stream(view.floors(first, fence.keyGroups().last() - first + 1))
                .allMatch(floor -> floor > number);
    }
}
