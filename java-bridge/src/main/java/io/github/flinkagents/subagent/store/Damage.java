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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.List;

/** Collects the places of a restore that cannot be read, so that one message names them. */
final class Damage {
    private static final Logger LOG = LoggerFactory.getLogger(Damage.class);
    private static final int NAMED = 5;

    private final String store;
    private final String repair;
    private final List<String> places = new ArrayList<>();

    /**
     * Begins with nothing damaged.
     *
     * @param store what is read, as a message names it
     * @param repair how records may be brought back, ending in "or "; empty when they cannot
     */
    Damage(String store, String repair) {
        this.store = store;
        this.repair = repair;
    }

    /** Sets a place aside. */
    void add(SegmentFile segment, int from, int to, String what) {
        add(segment.file() + ", bytes " + from + " to " + to, what);
    }

    /** Sets a place aside. */
    void add(String address, String what) {
        places.add(address + " (" + what + ")");
    }

    long count() {
        return places.size();
    }

    /**
     * Ends the reading: nothing happens when all was readable.
     *
     * @throws StoreException {@code STORE_CORRUPT} with the addresses, unless damage is to be skipped; then it is logged
     */
    void settle(OnCorrupt onCorrupt) throws StoreException {
        if (places.isEmpty()) {
            return;
        }
        String named = String.join("; ", places.subList(0, Math.min(NAMED, places.size())))
                + (places.size() > NAMED ? "; and " + (places.size() - NAMED) + " more" : "");
        if (onCorrupt == OnCorrupt.FAIL) {
            throw new StoreException(
                    ErrorCode.STORE_CORRUPT,
                    store + " holds records that cannot be read: " + named + ". To go on, " + repair
                            + "set store.on-corrupt: skip; the runs concerned then repeat their calls from there on");
        }
        LOG.warn(
                "{}: set aside {} places that cannot be read (store.on-corrupt: skip); the runs concerned repeat their"
                        + " calls from there on: {}",
                store,
                places.size(),
                named);
    }
}
