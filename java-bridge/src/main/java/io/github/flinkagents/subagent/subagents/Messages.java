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
package io.github.flinkagents.subagent.subagents;

import io.github.flinkagents.subagent.api.SubagentRequest;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonFactory;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.StreamReadConstraints;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.json.JsonWriteFeature;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.type.TypeReference;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.json.JsonMapper;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The texts that cross: requests are read, answers written (decision 0008). */
final class Messages {
    private static final TypeReference<Map<String, @Nullable Object>> OBJECT = new TypeReference<>() {};
    private static final ObjectMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    // The values are our own; how large a prompt may be is for its sub-agent to say.
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxStringLength(Integer.MAX_VALUE)
                            .maxNumberLength(Normalization.MAX_INTEGER_BITS)
                            .build())
                    // ASCII alone crosses; the halves of surrogate pairs survive as numbers.
                    .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
                    .build())
            .build();

    private Messages() {}

    /** What is to be done for whom. */
    record Request(Operation operation, SubagentRequest request) {}

    /**
     * Which class a resource has, and the arguments of its {@code open}.
     *
     * @param resource name of the resource
     * @param className name of the class
     * @param args JSON values
     */
    record Description(String resource, String className, Map<String, Object> args) {}

    static Request request(byte[] json) throws IOException {
        Map<String, @Nullable Object> members = read(json);
        Long deadlineMillis = (Long) members.get("deadline_ms");
        SubagentRequest request = new SubagentRequest(
                members.get("prompt"),
                text(members, "session_id"),
                text(members, "call_id"),
                members.get("run"),
                Math.toIntExact((Long) member(members, "attempt")),
                Optional.ofNullable(deadlineMillis).map(Instant::ofEpochMilli),
                text(members, "trace_parent"));
        return new Request(Operation.of(text(members, "operation")), request);
    }

    @SuppressWarnings("unchecked")
    static Description description(byte[] json) throws IOException {
        Map<String, @Nullable Object> members = read(json);
        return new Description(
                text(members, "resource"), text(members, "class"), (Map<String, Object>) member(members, "args"));
    }

    static byte[] write(Map<String, @Nullable Object> members) throws IOException {
        return JSON.writeValueAsBytes(members);
    }

    private static Map<String, @Nullable Object> read(byte[] json) throws IOException {
        Map<String, @Nullable Object> members = JSON.readValue(json, OBJECT);
        members.replaceAll((name, member) -> widened(member));
        return members;
    }

    /** Whole numbers of 64 bits are all of one class, so that nobody has to ask for two; in place. */
    @SuppressWarnings("unchecked")
    private static @Nullable Object widened(@Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            ((Map<String, @Nullable Object>) map).replaceAll((name, member) -> widened(member));
        } else if (value instanceof List<?> list) {
            ((List<@Nullable Object>) list).replaceAll(Messages::widened);
        }
        return value instanceof Integer number ? (Object) number.longValue() : value;
    }

    private static String text(Map<String, @Nullable Object> members, String name) {
        return (String) member(members, name);
    }

    private static Object member(Map<String, @Nullable Object> members, String name) {
        Object value = members.get(name);
        if (value == null) {
            throw new IllegalArgumentException("A message of the Python side has no `" + name + "`");
        }
        return value;
    }
}
