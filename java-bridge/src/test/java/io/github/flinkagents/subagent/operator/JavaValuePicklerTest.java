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
package io.github.flinkagents.subagent.operator;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Values that have no Python counterpart; what pickles mean is tested where Python reads them. */
class JavaValuePicklerTest {
    /** An unknown type is named, wherever it is [P7]. */
    @Test
    void pickle_unknownType_namesIt() {
        assertThatThrownBy(() -> JavaValuePickler.pickle(List.of(1, new AtomicInteger())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("java.util.concurrent.atomic.AtomicInteger")
                .hasMessageContaining("rows, numbers, texts or bytes");
    }
}
