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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What the key codec does beside the vectors. */
class KeyBytesTest {
    /** Every byte has its own char in Flink's key [S1.7]. */
    @Test
    void flinkKey_keepsEveryByte() {
        byte[] all = new byte[256];
        for (int i = 0; i < all.length; i++) {
            all[i] = (byte) i;
        }

        String flinkKey = KeyBytes.toFlinkKey(all);

        assertThat(flinkKey).hasSize(256);
        assertThat(KeyBytes.fromFlinkKey(flinkKey)).isEqualTo(all);
    }

    /** A Flink key that this package did not make is refused with what to do [P7]. */
    @Test
    void flinkKeyOfSomebodyElse_isRefused() {
        assertThatThrownBy(() -> KeyBytes.fromFlinkKey("sключ"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sключ")
                .hasMessageContaining("key operator");
    }

    /** The smallest and the largest long are integers like others [P7]. */
    @Test
    void longKey_isItsDigits() {
        assertThat(KeyBytes.toFlinkKey(KeyBytes.ofLong(Long.MIN_VALUE))).isEqualTo("i-9223372036854775808");
        assertThat(KeyBytes.toFlinkKey(KeyBytes.ofLong(Long.MAX_VALUE))).isEqualTo("i9223372036854775807");
    }
}
