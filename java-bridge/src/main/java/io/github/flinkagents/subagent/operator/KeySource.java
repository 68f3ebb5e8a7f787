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

import io.github.flinkagents.subagent.protocol.KeyBytes;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;

import java.io.IOException;

/** Where the key of an element comes from. */
interface KeySource {
    /**
     * Returns the canonical key bytes.
     *
     * @param element the element as it arrived
     * @param encoded its value in the input format
     */
    byte[] keyOf(Object element, byte[] encoded) throws Exception;

    /** Takes the key from the first field of the rows of a PyFlink keyed stream. */
    static KeySource firstField() {
        return (element, encoded) -> canonical(((Row) element).getField(0), "the first field");
    }

    /** Takes the key from a field of a row, by name. */
    static KeySource rowField(String name) {
        return (element, encoded) -> canonical(rowValue(element, name), "`" + name + "`");
    }

    /** Takes the key from a top-level field of the JSON object that an element is. */
    static KeySource jsonField(String name) {
        ObjectMapper json = new ObjectMapper();
        return (element, encoded) -> {
            try {
                return canonical(scalar(json.readTree(encoded).path(name)), "`" + name + "`");
            } catch (IOException unreadable) {
                throw new IllegalArgumentException(
                        "The key field `" + name
                                + "` cannot be read: the element is no JSON object. Use a key selector.",
                        unreadable);
            }
        };
    }

    private static @Nullable Object rowValue(Object element, String name) {
        if (!(element instanceof Row row)) {
            throw unusable(
                    "`" + name + "`", "is sought in a " + element.getClass().getName() + ", which has no fields");
        }
        var names = row.getFieldNames(true);
        if (names == null || !names.contains(name)) {
            throw unusable("`" + name + "`", "is missing from a row with fields " + names);
        }
        return row.getField(name);
    }

    private static @Nullable Object scalar(JsonNode node) {
        if (node.isTextual()) {
            return node.asText();
        }
        if (node.isBoolean()) {
            return node.asBoolean();
        }
        if (node.isIntegralNumber() && node.canConvertToLong()) {
            return node.asLong();
        }
        return node.isNull() || node.isMissingNode() ? null : node;
    }

    private static byte[] canonical(@Nullable Object key, String field) {
        if (key instanceof String text) {
            return KeyBytes.ofString(text);
        }
        if (isInteger(key)) {
            return KeyBytes.ofLong(((Number) key).longValue());
        }
        if (key instanceof Boolean flag) {
            return KeyBytes.ofBoolean(flag);
        }
        if (key instanceof byte[] bytes) {
            return KeyBytes.ofBytes(bytes);
        }
        throw unusable(
                field,
                key == null ? "is null or missing" : "is a " + key.getClass().getName());
    }

    /** Whether a value is one of Java's whole numbers of up to 64 bits. */
    static boolean isInteger(@Nullable Object key) {
        return key instanceof Byte || key instanceof Short || key instanceof Integer || key instanceof Long;
    }

    private static IllegalArgumentException unusable(String field, String problem) {
        return new IllegalArgumentException("The key field " + field + " " + problem
                + ". A key is a text, a whole number, a boolean or bytes; use a key selector to make one.");
    }
}
