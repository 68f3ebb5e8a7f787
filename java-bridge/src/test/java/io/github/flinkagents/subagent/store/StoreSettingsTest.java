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

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The store that a submission's options choose. */
class StoreSettingsTest {
    private final Map<String, @Nullable Object> options = new HashMap<>();

    StoreSettingsTest() {
        options.put("action-state-store", "embedded");
        options.put("store.embedded.dir", null);
        options.put("store.on-corrupt", "skip");
        options.put("store.allow-lost-tail", true);
        options.put("store.retained-checkpoints", 3);
        options.put("call-threads", 64);
    }

    /** Every option of the store is taken over [S3.1, S1.4, S1.8]. */
    @Test
    void options_areTakenOver() {
        options.put("store.embedded.dir", "/data/store");

        assertThat(StoreSettings.of(options))
                .isEqualTo(new StoreSettings(
                        StoreSettings.Kind.EMBEDDED, Path.of("/data/store"), OnCorrupt.SKIP, true, 3, null));
    }

    /** Without a folder the store is in Java's temporary folder [S3.1]. */
    @Test
    void folder_isInTheTemporaryFolderByDefault() {
        assertThat(StoreSettings.of(options).embeddedDir())
                .isEqualTo(Path.of(System.getProperty("java.io.tmpdir"), "flink-agents-subagent-store"));
    }

    /** The named store is made [S3.1, S4.1]. */
    @Test
    void store_isTheOneNamed() {
        assertThat(StoreSettings.of(options).create()).isInstanceOf(EmbeddedActionStateStore.class);

        options.put("action-state-store", "memory");
        assertThat(StoreSettings.of(options).create()).isInstanceOf(MemoryActionStateStore.class);
    }

    /** A file address is a folder; an address of an object store is refused with what to give [S3.1]. */
    @Test
    void folder_mayBeAFileAddress() {
        options.put("store.embedded.dir", "file:///data/my%20store");
        assertThat(StoreSettings.of(options).embeddedDir()).isEqualTo(Path.of("/data/my store"));

        options.put("store.embedded.dir", "s3://bucket/store");
        assertThatThrownBy(() -> StoreSettings.of(options))
                .hasMessageContaining("s3://bucket/store")
                .hasMessageContaining("give a folder");
    }

    /** A value that this release does not know, and a missing option, are named [S3.1]. */
    @Test
    void unknownValue_isNamed() {
        options.put("action-state-store", "redis");
        assertThatThrownBy(() -> StoreSettings.of(options))
                .hasMessageContaining("action-state-store")
                .hasMessageContaining("redis");

        options.remove("action-state-store");
        assertThatThrownBy(() -> StoreSettings.of(options)).hasMessageContaining("'action-state-store' is missing");
    }
}
