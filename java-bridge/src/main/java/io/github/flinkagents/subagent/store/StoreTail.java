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

import java.util.List;

/**
 * What an opened store held behind the positions.
 *
 * <p>For each run the records are consecutive and in order, each number once; what lies behind a gap is left out. Whether
 * the first of them joins the records of the checkpoint is for the reader to check: the store does not know those.
 *
 * @param storeId identifies the store; belongs into every checkpoint beside the positions
 * @param records the records of the opened key groups, in the order in which they were written
 * @param setAside how many records could not be read and were skipped ({@code store.on-corrupt: skip})
 */
public record StoreTail(String storeId, List<JournalRecord> records, long setAside) {
    public StoreTail {
        records = List.copyOf(records);
    }
}
