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

import io.github.flinkagents.subagent.protocol.ErrorCode;

import java.io.IOException;
import java.util.Optional;

/**
 * Tells a writer whether a later attempt has claimed one of its key groups.
 *
 * <p>A record written before a look that finds nothing lies inside the cut of every fence created after it: the cut is
 * taken after the fence was created. On a network file system this needs names that are looked up afresh (for NFS: mount
 * option {@code lookupcache=positive} or {@code none}).
 *
 * <p>A look costs two file look-ups: fences have no holes in their numbers while this writer's own fence stands, and the own
 * one is looked at last, so that the absence of the next one was not a removal.
 */
final class FenceWatch {
    private final FenceDirectory fences;
    private final Fence own;
    private long nextUnread;

    FenceWatch(FenceDirectory fences, Fence own) {
        this.fences = fences;
        this.own = own;
        this.nextUnread = own.number() + 1;
    }

    /**
     * Looks.
     *
     * @throws StoreException {@code STORE_FENCED} when a later attempt owns a key group of this one
     */
    void check() throws IOException, StoreException {
        boolean allRead = true;
        for (long number = nextUnread; fences.exists(number); number++) {
            Optional<Fence> later = fences.read(number);
            if (later.isPresent() && later.get().keyGroups().overlaps(own.keyGroups())) {
                throw fenced("attempt " + number + " (key groups " + later.get().keyGroups() + ") took them over");
            }
            // One that cannot be read yet takes its cut later, and is looked at again.
            allRead = allRead && later.isPresent();
            nextUnread = allRead ? number + 1 : nextUnread;
        }
        if (!fences.exists()) {
            throw new StoreException(
                    ErrorCode.STORE_LOST,
                    "The folder of the embedded store was deleted while attempt " + own.number()
                            + " used it. Keep clean-up jobs away from store.embedded.dir; restore with"
                            + " store.allow-lost-tail: true, which repeats the calls since the checkpoint");
        }
        if (!fences.exists(own.number())) {
            throw fenced("its fence file is gone, as later attempts need it no longer");
        }
    }

    private StoreException fenced(String reason) {
        return new StoreException(
                ErrorCode.STORE_FENCED,
                "Attempt " + own.number() + " no longer owns key groups " + own.keyGroups() + " of the embedded store: "
                        + reason
                        + ". Nothing of this attempt is recorded any more; it is usually a task that was given up"
                        + " while it was paused. If no such task runs, two running jobs share one job-identifier: give each"
                        + " its own");
    }
}
