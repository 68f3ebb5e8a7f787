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

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.type.TypeReference;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * What a submission tells an operator besides the plan (decision 0005). A name that is not there is an error: neither side
 * keeps defaults.
 */
final class Settings {
    private static final int VERSION = 1;
    private static final String OPTIONS = "options";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final ObjectNode root;

    private Settings(ObjectNode root) {
        this.root = root;
    }

    /** Reads the object; refuses a version that this release does not know. */
    static Settings parse(byte[] json) {
        try {
            if (!(JSON.readTree(json) instanceof ObjectNode object)) {
                throw new IllegalArgumentException("The settings of the operator are no JSON object");
            }
            int version = object.path("version").asInt();
            if (version != VERSION) {
                throw new IllegalArgumentException("The settings of the operator have version " + version
                        + "; this jar reads version " + VERSION + ". Use the jar and the Python package of one release"
                        + " of flink-agents-subagent.");
            }
            return new Settings(object);
        } catch (IOException unreadable) {
            throw new IllegalArgumentException("The settings of the operator are no JSON", unreadable);
        }
    }

    /** Returns a text. */
    String text(String name) {
        return optionalText(name).orElseThrow(() -> missing(name));
    }

    /** Returns a text that may be null. */
    Optional<String> optionalText(String name) {
        return nullable(root, name).map(JsonNode::asText);
    }

    /** Returns a flag. */
    boolean flag(String name) {
        return nullable(root, name).orElseThrow(() -> missing(name)).asBoolean();
    }

    /** Returns an option that is a number. */
    long numberOption(String name) {
        return nullable(root.path(OPTIONS), name)
                .orElseThrow(() -> missing(name))
                .asLong();
    }

    /** Returns an option that is a duration and may be without value. */
    Optional<Duration> durationOption(String name) {
        return nullable(root.path(OPTIONS), name).map(node -> Duration.ofMillis(node.asLong()));
    }

    /** Returns all options by name: texts, numbers, flags, null for one without value. */
    Map<String, @Nullable Object> options() {
        return JSON.convertValue(root.path(OPTIONS), new TypeReference<Map<String, @Nullable Object>>() {});
    }

    /** Returns these settings with a text in addition, or in the place of another. */
    Settings with(String name, String value) {
        return new Settings(root.deepCopy().put(name, value));
    }

    /** Returns the settings as they were read. */
    byte[] toJson() throws IOException {
        return JSON.writeValueAsBytes(root);
    }

    private static Optional<JsonNode> nullable(JsonNode object, String name) {
        JsonNode node = object.get(name);
        if (node == null) {
            throw missing(name);
        }
        return node.isNull() ? Optional.empty() : Optional.of(node);
    }

    private static IllegalArgumentException missing(String name) {
        return new IllegalArgumentException("The settings of the operator have no value for `" + name
                + "`. Use the jar and the Python package of one release of flink-agents-subagent.");
    }
}
