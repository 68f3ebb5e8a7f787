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

import io.github.flinkagents.subagent.protocol.OnAnyThread;
import io.github.flinkagents.subagent.store.ActionStateStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The point at which the process is to die, if any: for tests (decision 0011). One for each attempt of a subtask. */
@OnAnyThread
final class ArmedCrash {
    private static final Logger LOG = LoggerFactory.getLogger(ArmedCrash.class);
    static final String VARIABLE = "FLINK_AGENTS_SUBAGENT_CRASH";

    private static final int STATUS_OF_A_KILLED_PROCESS = 137;
    private static final Pattern FORM = Pattern.compile("([a-z-]+):([1-9]\\d{0,8})");

    private final @Nullable CrashPoint point;
    private final long passages;
    private final AtomicLong passed = new AtomicLong();
    private final Consumer<String> death;

    private ArmedCrash(@Nullable CrashPoint point, long passages, Consumer<String> death) {
        this.point = point;
        this.passages = passages;
        this.death = death;
    }

    /** Reads the process's environment. */
    static ArmedCrash ofProcess() {
        return of(System.getenv(), ArmedCrash::die);
    }

    /**
     * Reads an environment.
     *
     * @param death what happens at the point; told why
     * @throws IllegalArgumentException when the variable names no point
     */
    static ArmedCrash of(Map<String, String> environment, Consumer<String> death) {
        String text = environment.get(VARIABLE);
        if (text == null) {
            return new ArmedCrash(null, 0, death);
        }
        Matcher form = FORM.matcher(text);
        return Arrays.stream(CrashPoint.values())
                .filter(point -> form.matches() && form.group(1).equals(point.label()))
                .findFirst()
                .map(point -> new ArmedCrash(point, Long.parseLong(form.group(2)), death))
                .orElseThrow(() -> unknown(text));
    }

    /** Returns the store, behind one that dies where it is to when a point is armed. */
    ActionStateStore around(ActionStateStore store) {
        return point == null ? store : new CrashingStore(store, this);
    }

    /** Dies if this is the point and the time. */
    void pass(CrashPoint passing) {
        if (passing == point && passed.incrementAndGet() == passages) {
            death.accept("crash point " + point.label() + " passed " + passages + " times");
        }
    }

    /** Returns what the Python side is told; empty when nothing is armed. */
    String text() {
        return point == null ? "" : point.label() + ":" + passages;
    }

    private static void die(String reason) {
        LOG.error(reason);
        Runtime.getRuntime().halt(STATUS_OF_A_KILLED_PROCESS);
    }

    private static IllegalArgumentException unknown(String text) {
        String points =
                Arrays.stream(CrashPoint.values()).map(CrashPoint::label).collect(Collectors.joining(", "));
        return new IllegalArgumentException("The environment variable " + VARIABLE + " is '" + text
                + "'. It is for tests and has the form <point>:<times passed>, where the point is one of " + points
                + ". Unset it in the environment of the TaskManager");
    }
}
