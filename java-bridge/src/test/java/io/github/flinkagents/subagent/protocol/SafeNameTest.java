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

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Names of folders made of texts that users choose [S1.6]. */
class SafeNameTest {
    /** Usual names stay readable; every other byte is escaped [S1.6]. */
    @ParameterizedTest
    @CsvSource({
        "agent-pricing_2,agent-pricing_2",
        "0123abc,0123abc",
        "..,%2e%2e",
        "a/b,a%2fb",
        "A,%41",
        "'a b',a%20b",
        "a%2fb,a%252fb",
        "é,%c3%a9",
        "'',~",
        "~,%7e"
    })
    void name_isPinned(String text, String name) {
        assertThat(SafeName.encode(text)).isEqualTo(name);
    }

    /** Different texts have different names, where case does not count too [S1.6]. */
    @Test
    void names_areDifferent() {
        String long1 = "x".repeat(500);
        List<String> texts = List.of(
                "job",
                "?",
                "\ud800",
                "\udc00",
                "Job",
                "JOB",
                "j/ob",
                "j%2fob",
                "",
                "~",
                ".",
                "..",
                long1,
                long1 + "x",
                long1 + "X",
                "x".repeat(48));

        Stream<String> names = texts.stream().map(text -> SafeName.encode(text).toLowerCase(Locale.ROOT));

        assertThat(names).doesNotHaveDuplicates();
    }

    /** A name fits into what file systems take, however long the text [S1.6]. */
    @Test
    void longText_hasAShortName() {
        assertThat(SafeName.encode("ключ".repeat(10_000))).hasSizeLessThan(200);
    }
}
