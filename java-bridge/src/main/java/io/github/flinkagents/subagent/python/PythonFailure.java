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
package io.github.flinkagents.subagent.python;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** An exception of the Python side: its stable code, its type, its message and its traceback as text. */
public final class PythonFailure extends Exception {
    private static final long serialVersionUID = 1L;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final String code;
    private final String type;

    private PythonFailure(String code, String type, String message) {
        // The Java frames would only show the bridge; the Python traceback is in the message.
        super(message, null, false, false);
        this.code = code;
        this.type = type;
    }

    /** Reads the flat error object of the entry points; text that is none is kept as it is. */
    static PythonFailure fromJson(byte[] json) {
        try {
            JsonNode node = JSON.readTree(json);
            String type = node.path("type").asText("unknown");
            String message = type + ": " + node.path("message").asText();
            String traceback = node.path("traceback").asText();
            if (!traceback.isEmpty()) {
                message += "\n" + traceback.stripTrailing();
            }
            return new PythonFailure(node.path("code").asText("unknown"), type, message);
        } catch (IOException unreadable) {
            return new PythonFailure("bridge", "unknown", new String(json, StandardCharsets.UTF_8));
        }
    }

    /** The stable code of the error tree, for instance {@code replay_mismatch}. */
    public String code() {
        return code;
    }

    /** The Python type's name. */
    public String type() {
        return type;
    }
}
