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

import org.junit.jupiter.api.Test;

import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;

/** How records of several attempts become one journal per run. */
class JournalAssemblyTest {
    private final JournalAssembly journals = new JournalAssembly();

    /** Runs keep their own order, and all together the order of the log [S1.3]. */
    @Test
    void records_stayInLogOrder() {
        JournalRecord[] log = {record(5, 1, 1), record(6, 1, 1), record(5, 1, 2), record(5, 2, 1), record(6, 1, 2)};
        for (JournalRecord record : log) {
            journals.add(1, record);
        }

        assertThat(journals.records()).containsExactly(log);
    }

    /** A run is cut at the first gap in its numbers; it may begin with any [S1.2]. */
    @Test
    void gap_cutsTheRun() {
        journals.add(1, record(5, 1, 4));
        journals.add(1, record(5, 1, 5));
        journals.add(1, record(5, 1, 7));
        journals.add(1, record(5, 1, 8));

        assertThat(journals.records()).containsExactly(record(5, 1, 4), record(5, 1, 5));
    }

    /** A number that the same attempt wrote before is ignored [S1.3]. */
    @Test
    void duplicateOfOneAttempt_isIgnored() {
        journals.add(1, record(5, 1, 1));
        journals.add(1, record(5, 1, 2));
        journals.add(1, record(5, 1, 1, "again"));
        journals.add(1, record(5, 1, 3));

        assertThat(journals.records()).containsExactly(record(5, 1, 1), record(5, 1, 2), record(5, 1, 3));
    }

    /** A later attempt that wrote a number again had not read it, nor what followed [S1.3]. */
    @Test
    void recordOfALaterAttempt_replacesTheRest() {
        journals.add(1, record(5, 1, 1));
        journals.add(1, record(5, 1, 2));
        journals.add(1, record(5, 1, 3));
        journals.add(2, record(5, 1, 2, "anew"));

        assertThat(journals.records()).containsExactly(record(5, 1, 1), record(5, 1, 2, "anew"));
    }

    /** What a later attempt appended again, because its checkpoint held it, cuts nothing off [S1.3, E4.2]. */
    @Test
    void sameRecordOfALaterAttempt_isADuplicate() {
        journals.add(1, record(5, 1, 1));
        journals.add(1, record(5, 1, 2));
        journals.add(1, record(5, 1, 3));
        journals.add(2, record(5, 1, 2));
        assertThat(journals.records()).containsExactly(record(5, 1, 1), record(5, 1, 2), record(5, 1, 3));

        journals.add(2, record(5, 1, 3));
        journals.add(2, record(5, 1, 4));
        assertThat(journals.records())
                .containsExactly(record(5, 1, 1), record(5, 1, 2), record(5, 1, 3), record(5, 1, 4));
    }

    /** A later attempt may begin before the first number that was read [S1.3]. */
    @Test
    void recordBeforeTheFirst_replacesAll() {
        journals.add(1, record(5, 1, 3));
        journals.add(2, record(5, 1, 2, "anew"));
        journals.add(2, record(5, 1, 3, "anew"));

        assertThat(journals.records()).containsExactly(record(5, 1, 2, "anew"), record(5, 1, 3, "anew"));
    }

    /** Runs of different keys are apart, also in one key group and with one number [S1.7]. */
    @Test
    void keysInOneKeyGroup_areApart() {
        JournalRecord one = new JournalRecord(5, new byte[] {'a'}, 1, 1, new byte[0]);
        JournalRecord other = new JournalRecord(5, new byte[] {'a', 0}, 1, 1, new byte[0]);
        journals.add(1, one);
        journals.add(1, other);

        assertThat(journals.records()).containsExactly(one, other);
    }
}
