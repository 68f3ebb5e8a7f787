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

import java.util.Arrays;
import java.util.Optional;

/**
 * The error codes of {@code flink_agents_subagent/errors.py}, one constant for each class there. Code strings are
 * stable across releases; programs compare them and never parse messages.
 */
public enum ErrorCode {
    /** Base of all errors; never raised itself. */
    AGENT_ERROR("agent_error", false),
    /** An agent, resource, option or plan is wrong. */
    DEFINITION("definition", false),
    /** An API was used where it cannot work. */
    CONTEXT_MISUSE("context_misuse", false),
    /** A value cannot be stored or sent. */
    NOT_EXPRESSIBLE("not_expressible", false),
    /** A recorded exception cannot be rebuilt as its own class. */
    DURABLE_CALL("durable_call", false),
    /** A durable call did not finish in time. */
    DURABLE_TIMEOUT("durable_timeout", false),
    /** A sub-agent failed. */
    SUBAGENT("subagent", false),
    /** A provider of a chat model refused a request, or its answer cannot be read. */
    CHAT_MODEL("chat_model", false),
    /** A provider of a chat model could not be reached, was too busy, or broke down. */
    CHAT_MODEL_UNAVAILABLE("chat_model_unavailable", true),
    /** An exception escaped an action. */
    ACTION("action", false),
    /** The crash simulator found a divergence. */
    SIMULATION("simulation", false),
    /** The engine cannot go on. */
    ENGINE("engine", false),
    /** Code and journal disagree. */
    REPLAY_MISMATCH("replay_mismatch", false),
    /** A value to be journalled has a type that cannot be rebuilt. */
    ENCODING("encoding", false),
    /** A record is larger than {@code journal.max-record-bytes}. */
    RECORD_TOO_LARGE("record_too_large", false),
    /** A sub-agent handle was neither awaited nor cancelled. */
    UNAWAITED_HANDLE("unawaited_handle", false),
    /** A record or entry was written by a newer release. */
    UNKNOWN_VERSION("unknown_version", false),
    /** The action-state store failed. */
    STORE("store", false),
    /** The store could not be reached or written. */
    STORE_UNAVAILABLE("store_unavailable", true),
    /** Another attempt owns the key groups. */
    STORE_FENCED("store_fenced", false),
    /** A record of the store cannot be read. */
    STORE_CORRUPT("store_corrupt", false),
    /** The store, or the part of it that a restore needs, is gone. */
    STORE_LOST("store_lost", false),
    /** The Java and the Python half disagree or lost each other. */
    BRIDGE("bridge", false);

    private final String code;
    private final boolean retryable;

    ErrorCode(String code, boolean retryable) {
        this.code = code;
        this.retryable = retryable;
    }

    /** The stable text of the code. */
    public String code() {
        return code;
    }

    /** Whether a restart of the task may help. */
    public boolean retryable() {
        return retryable;
    }

    /** The constant of a code text, empty when this release does not know it. */
    public static Optional<ErrorCode> of(String code) {
        return Arrays.stream(values()).filter(known -> known.code.equals(code)).findFirst();
    }
}
