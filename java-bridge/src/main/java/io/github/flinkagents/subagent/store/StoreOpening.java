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
import java.util.Objects;

/**
 * What an attempt opens the store for.
 *
 * @param jobIdentifier names the job; with the operator uid the namespace of all records
 * @param operatorUid names the operator
 * @param submissionId the submission that this attempt belongs to
 * @param keyGroups the key groups of the subtask
 * @param maxParallelism how many key groups there are in all; the same for every attempt of a job
 * @param restored where a restored checkpoint ends, or {@link Restored#NONE} for a fresh start
 */
public record StoreOpening(
        String jobIdentifier,
        String operatorUid,
        String submissionId,
        KeyGroups keyGroups,
        int maxParallelism,
        Restored restored) {
    public StoreOpening {
        Objects.requireNonNull(jobIdentifier, "jobIdentifier");
        Objects.requireNonNull(operatorUid, "operatorUid");
        Objects.requireNonNull(submissionId, "submissionId");
        Objects.requireNonNull(keyGroups, "keyGroups");
        if (keyGroups.last() >= maxParallelism) {
            throw new IllegalArgumentException("Key groups " + keyGroups + " of operator " + operatorUid
                    + " go beyond its max parallelism " + maxParallelism);
        }
        if (restored.isRestore()) {
            keyGroups.stream()
                    .filter(keyGroup -> !restored.positions().containsKey(keyGroup))
                    .findFirst()
                    .ifPresent(keyGroup -> {
                        throw new IllegalArgumentException("The restored state of operator " + operatorUid
                                + " holds no store position for key group " + keyGroup);
                    });
        }
    }

    /**
     * Refuses a key group that was not opened.
     *
     * @throws IllegalArgumentException naming it
     */
    public void requireOwn(int keyGroup) {
        if (!keyGroups.contains(keyGroup)) {
            throw new IllegalArgumentException("Key group " + keyGroup + " is not among those opened by operator "
                    + operatorUid + " (" + keyGroups + ")");
        }
    }

    /**
     * What the checkpoint says about the store.
     *
     * @param storeId the id of the store that the checkpoint was taken with, from {@link StoreTail#storeId}; empty without one
     * @param positions a position for each key group that is opened; those of others are ignored
     */
    public record Restored(String storeId, Map<Integer, StorePosition> positions) {
        /** A start without restored state. */
        public static final Restored NONE = new Restored("", Map.of());

        public Restored {
            positions = Map.copyOf(positions);
        }

        /** Whether there is a checkpoint. */
        public boolean isRestore() {
            return !storeId.isEmpty();
        }
    }
}
