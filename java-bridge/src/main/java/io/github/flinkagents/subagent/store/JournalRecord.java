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
import java.util.Objects;

/**
 * One journal record in its envelope. The arrays are not copied: whoever hands a record over does not change them any more.
 *
 * @param keyGroup Flink's key group of the key
 * @param key canonical key bytes
 * @param runNumber the run of the key, from 1
 * @param recordNumber the record of the run, from 1
 * @param payload what the engine wrote; opaque
 */
public record JournalRecord(int keyGroup, byte[] key, long runNumber, int recordNumber, byte[] payload) {
    public JournalRecord {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(payload, "payload");
        if (keyGroup < 0 || runNumber < 1 || recordNumber < 1) {
            throw new IllegalArgumentException("A record of key group " + keyGroup + ", run " + runNumber + ", number "
                    + recordNumber + " cannot exist; run and record numbers start at 1");
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof JournalRecord that
                && keyGroup == that.keyGroup
                && runNumber == that.runNumber
                && recordNumber == that.recordNumber
                && Arrays.equals(key, that.key)
                && Arrays.equals(payload, that.payload);
    }

    @Override
    public int hashCode() {
        return Objects.hash(keyGroup, Arrays.hashCode(key), runNumber, recordNumber, Arrays.hashCode(payload));
    }

    /** The address without key and payload, which do not belong into logs. */
    @Override
    public String toString() {
        return "record " + recordNumber + " of run " + runNumber + " in key group " + keyGroup + " (" + payload.length
                + " bytes)";
    }
}
