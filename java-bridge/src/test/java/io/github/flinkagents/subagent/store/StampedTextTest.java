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

import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Small files that are told whole from partial [S1.4]. */
class StampedTextTest {
    private static final List<String> LINES = List.of("title", "", "writer ключ");

    /** Lines come back as they were, also none [S1.4]. */
    @Test
    void lines_comeBack() {
        assertThat(StampedText.decode(StampedText.encode(LINES))).hasValue(LINES);
        assertThat(StampedText.decode(StampedText.encode(List.of()))).isPresent();
    }

    /** A part of a file, of any length, is no file [S1.4]. */
    @Test
    void everyPart_isRefused() {
        byte[] whole = StampedText.encode(LINES);
        for (int length = 0; length < whole.length; length++) {
            assertThat(StampedText.decode(Arrays.copyOf(whole, length)))
                    .as("%d bytes", length)
                    .isEmpty();
        }
    }

    /** A changed byte anywhere is noticed [S1.4]. */
    @Test
    void everyChange_isNoticed() {
        byte[] whole = StampedText.encode(LINES);
        for (int place = 0; place < whole.length; place++) {
            byte[] changed = whole.clone();
            changed[place] ^= 1;
            assertThat(StampedText.decode(changed)).as("byte %d", place).isEmpty();
        }
    }
}
