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

import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/**
 * Every Python function that Java calls, all of one module. This enum and that module are compared when an interpreter
 * starts, so that a wheel and a jar of different releases say so instead of failing later.
 */
public enum EntryPoint {
    /** Tells protocol version, names and arities of the Python side. */
    HANDSHAKE("handshake", 0),
    /** Makes the engine of one operator instance. */
    OPEN("open", 4),
    /** Gives one key's entry of the restored checkpoint to the engine. */
    RESTORE_ENTRY("restore_entry", 3),
    /** Gives one record of the store's tail to the engine. */
    RESTORE_RECORD("restore_record", 5),
    /** Ends the restore phase. */
    START("start", 2),
    /** Hands over inputs. */
    PROCESS("process", 2),
    /** Hands over acknowledgements, takes completions, fires due deadlines. */
    DRAIN("drain", 3),
    /** Hands over what Java sub-agents have answered. */
    ANSWER_CALLS("answer_calls", 2),
    /** Writes the entries of changed keys. */
    SNAPSHOT("snapshot", 2),
    /** Runs one blocking call; on a worker thread. */
    RUN_CALL("run_call", 2),
    /** Runs the background asyncio loop; returns when it was stopped. */
    RUN_LOOP("run_loop", 1),
    /** Stops the background asyncio loop. */
    STOP_LOOP("stop_loop", 1),
    /** Seals and forgets the engine. */
    CLOSE("close", 1),
    /** Loads the key selector of one key operator instance. */
    OPEN_KEY("open_key", 3),
    /** Computes the canonical keys of values. */
    KEYS_OF("keys_of", 2),
    /** Forgets the key selector. */
    CLOSE_KEY("close_key", 1);

    static final String MODULE = "flink_agents_subagent._flink.entry";
    static final int PROTOCOL_VERSION = 2;

    private final String function;
    private final String callName;
    private final int arity;

    EntryPoint(String function, int arity) {
        this.function = function;
        // Not the constant: enum constants are made before static fields.
        this.callName = "fas." + function;
        this.arity = arity;
    }

    /** The name by which an interpreter finds the function. */
    String callName() {
        return callName;
    }

    /** What this jar expects of {@link #HANDSHAKE}: {@code version;name/arity;…}, names sorted. */
    static String expectedHandshake() {
        Set<String> parts = new TreeSet<>();
        Arrays.stream(values()).forEach(entry -> parts.add(entry.function + "/" + entry.arity));
        return PROTOCOL_VERSION + ";" + String.join(";", parts);
    }

    /** Compares the Python side's answer with this enum; the message names what differs. */
    static void checkHandshake(String answer, String interpreter) throws BridgeException {
        if (expectedHandshake().equals(answer)) {
            return;
        }
        Set<String> ours = new TreeSet<>(Arrays.asList(expectedHandshake().split(";")));
        Set<String> theirs = new TreeSet<>(Arrays.asList(String.valueOf(answer).split(";")));
        Set<String> missing = new TreeSet<>(ours);
        missing.removeAll(theirs);
        Set<String> unknown = new TreeSet<>(theirs);
        unknown.removeAll(ours);
        throw new BridgeException("The jar and the Python package of flink-agents-subagent are of different releases:"
                + " the jar expects " + missing + ", the package in " + interpreter + " has " + unknown
                + " instead. Install the same release of flink-agents-subagent where the job is submitted and in the"
                + " Python environment of the TaskManagers.");
    }
}
