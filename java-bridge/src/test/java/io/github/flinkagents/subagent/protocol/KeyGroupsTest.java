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
package io.github.flinkagents.subagent.protocol;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Ranges of key groups. */
class KeyGroupsTest {
    /** Both ends belong to the range [E4.7]. */
    @Test
    void range_includesBothEnds() {
        KeyGroups range = new KeyGroups(3, 5);

        assertThat(range.stream()).containsExactly(3, 4, 5);
        assertThat(range.contains(2)).isFalse();
        assertThat(range.contains(6)).isFalse();
    }

    /** Ranges overlap when they share a key group, be it one [E4.7]. */
    @ParameterizedTest
    @CsvSource({"0,2,false", "0,3,true", "4,4,true", "5,9,true", "6,9,false", "0,9,true"})
    void overlap_isOneCommonKeyGroup(int first, int last, boolean expected) {
        KeyGroups range = new KeyGroups(3, 5);
        KeyGroups other = new KeyGroups(first, last);

        assertThat(range.overlaps(other)).isEqualTo(expected);
        assertThat(other.overlaps(range)).isEqualTo(expected);
    }

    /** What is no range is refused. */
    @ParameterizedTest
    @CsvSource({"-1,3", "4,3"})
    void noRange_isRefused(int first, int last) {
        assertThatThrownBy(() -> new KeyGroups(first, last)).hasMessageContaining(first + " to " + last);
    }
}
