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

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What a submission tells an operator. */
class SettingsTest {
    private static final String TEXT = """
            {"version": 1, "agent": "pricer", "python-executable": null, "keyed": true,
             "options": {"max-held-inputs": 5, "short-term-memory.ttl": 1500, "store.embedded.dir": null}}
            """;

    private final Settings settings = parse(TEXT);

    /** Values are read by name and type [P6]. */
    @Test
    void values_areReadByName() {
        assertThat(settings.text("agent")).isEqualTo("pricer");
        assertThat(settings.optionalText("python-executable")).isEmpty();
        assertThat(settings.flag("keyed")).isTrue();
        assertThat(settings.numberOption("max-held-inputs")).isEqualTo(5);
        assertThat(settings.durationOption("short-term-memory.ttl")).hasValue(Duration.ofMillis(1500));
        assertThat(settings.options()).containsEntry("store.embedded.dir", null);
    }

    /** A name that is missing is an error, not a default [P6]. */
    @Test
    void missingName_isNamed() {
        assertThatThrownBy(() -> settings.numberOption("call-threads")).hasMessageContaining("`call-threads`");
    }

    /** Another version is refused with both versions [P6]. */
    @Test
    void otherVersion_isRefused() {
        assertThatThrownBy(() -> parse("{\"version\": 2}"))
                .hasMessageContaining("version 2")
                .hasMessageContaining("version 1");
    }

    /** A changed value is written, the others stay [E5.1]. */
    @Test
    void with_replacesOneValue() throws Exception {
        Settings changed = Settings.parse(settings.with("agent", "other").toJson());

        assertThat(changed.text("agent")).isEqualTo("other");
        assertThat(changed.numberOption("max-held-inputs")).isEqualTo(5);
        assertThat(settings.text("agent")).isEqualTo("pricer");
    }

    private static Settings parse(String text) {
        return Settings.parse(text.getBytes(StandardCharsets.UTF_8));
    }
}
