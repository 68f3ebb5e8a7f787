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

import io.github.flinkagents.subagent.protocol.KeyBytes;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Puts the records of several attempts, given in log order, together to one journal per run.
 *
 * <p>A number that the same attempt wrote before is a duplicate and ignored. A number that an earlier attempt wrote before
 * replaces it and all behind it: the later attempt had not been able to read it, and went on without it. It is a duplicate too if it is
 * the same record: a restore appends again what its checkpoint holds and the store may have lost. A number that leaves a gap is ignored,
 * as is what follows it.
 */
final class JournalAssembly {
    private final Map<Run, List<Entry>> journals = new HashMap<>();
    private long sequence;

    /** Adds the next record in log order. */
    void add(long attempt, JournalRecord record) {
        List<Entry> journal = journals.computeIfAbsent(
                new Run(KeyBytes.toFlinkKey(record.key()), record.runNumber()), run -> new ArrayList<>());
        int number = record.recordNumber();
        int expected = journal.isEmpty()
                ? number
                : journal.get(journal.size() - 1).record.recordNumber() + 1;
        if (number > expected || isDuplicate(journal, attempt, record)) {
            return;
        }
        if (number < expected) {
            journal.removeIf(entry -> entry.record.recordNumber() >= number);
        }
        journal.add(new Entry(sequence++, attempt, record));
    }

    /** The journals' records in log order. */
    List<JournalRecord> records() {
        return journals.values().stream()
                .flatMap(List::stream)
                .sorted(Comparator.comparingLong(Entry::sequence))
                .map(Entry::record)
                .toList();
    }

    private static boolean isDuplicate(List<Entry> journal, long attempt, JournalRecord record) {
        if (journal.isEmpty()) {
            return false;
        }
        int index = record.recordNumber() - journal.get(0).record.recordNumber();
        if (index < 0 || index >= journal.size()) {
            return false;
        }
        Entry before = journal.get(index);
        return before.attempt == attempt || before.record.equals(record);
    }

    private record Run(String key, long number) {}

    private record Entry(long sequence, long attempt, JournalRecord record) {}
}
