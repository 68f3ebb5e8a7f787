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

import java.net.URI;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * The options that choose and set up a store, resolved.
 *
 * @param kind which store ({@code action-state-store})
 * @param embeddedDir folder of the embedded store, absolute ({@code store.embedded.dir})
 * @param onCorrupt what an unreadable record does ({@code store.on-corrupt})
 * @param allowLostTail whether a restore may go on without records that are gone ({@code store.allow-lost-tail})
 * @param retainedCheckpoints for {@link RetainedCheckpoints} ({@code store.retained-checkpoints})
 * @param kafka the options of the Kafka store, or null when another one is chosen
 */
public record StoreSettings(
        Kind kind,
        Path embeddedDir,
        OnCorrupt onCorrupt,
        boolean allowLostTail,
        int retainedCheckpoints,
        @Nullable KafkaSettings kafka) {
    private static final String DEFAULT_FOLDER = "flink-agents-subagent-store";

    /** The stores. */
    public enum Kind {
        /** {@link EmbeddedActionStateStore}. */
        EMBEDDED,
        /** {@link KafkaActionStateStore}. */
        KAFKA,
        /** {@link MemoryActionStateStore}. */
        MEMORY
    }

    /**
     * Reads the resolved options of a submission; others than the store's are ignored.
     *
     * @param options by name: texts, booleans and numbers as {@code docs/options.md} says; null stands for no value
     * @throws IllegalArgumentException when an option is missing or has another value than it can have
     */
    public static StoreSettings of(Map<String, ? extends @Nullable Object> options) {
        Kind kind = choice(Kind.class, "action-state-store", options);
        return new StoreSettings(
                kind,
                directory(options.get("store.embedded.dir")),
                choice(OnCorrupt.class, "store.on-corrupt", options),
                Boolean.parseBoolean(required("store.allow-lost-tail", options)),
                Integer.parseInt(required("store.retained-checkpoints", options)),
                kind == Kind.KAFKA ? KafkaSettings.of(options) : null);
    }

    /** Makes the chosen store; it is not open yet. */
    public ActionStateStore create() {
        return switch (kind) {
            case EMBEDDED -> new EmbeddedActionStateStore(this);
            case KAFKA -> new KafkaActionStateStore(this, Objects.requireNonNull(kafka, "kafka"));
            case MEMORY -> new MemoryActionStateStore();
        };
    }

    private static <E extends Enum<E>> E choice(
            Class<E> type, String name, Map<String, ? extends @Nullable Object> options) {
        String value = required(name, options);
        try {
            return Enum.valueOf(type, value.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "option '" + name + "' cannot be '" + value + "'; docs/options.md lists what it takes", e);
        }
    }

    static String required(String name, Map<String, ? extends @Nullable Object> options) {
        Object value = options.get(name);
        if (value == null) {
            throw new IllegalArgumentException("option '" + name + "' is missing from the settings of the operator;"
                    + " the Python package and the jar are of different releases");
        }
        return value.toString();
    }

    private static Path directory(@Nullable Object option) {
        if (option == null) {
            return Path.of(System.getProperty("java.io.tmpdir"), DEFAULT_FOLDER).toAbsolutePath();
        }
        String text = option.toString();
        if (text.startsWith("file:")) {
            return Path.of(URI.create(text)).toAbsolutePath();
        }
        if (text.contains("://")) {
            throw new IllegalArgumentException("option 'store.embedded.dir' cannot be '" + text
                    + "'; give a folder on a disk or mounted file system of the TaskManagers");
        }
        return Path.of(text).toAbsolutePath();
    }
}
