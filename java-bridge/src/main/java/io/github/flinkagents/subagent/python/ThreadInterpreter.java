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

import pemja.core.PythonInterpreter;

/**
 * The one interpreter of a Java thread. CPython hangs when a thread has two, or uses one that another thread made, so
 * operators that share a task share it: whoever acquires it first makes it, whoever releases it last closes it.
 *
 * <p>Thread: made, used and released on the same thread.
 */
final class ThreadInterpreter {
    private static final ThreadLocal<ThreadInterpreter> CURRENT = new ThreadLocal<>();

    private final PythonInterpreter interpreter;
    private int users;

    private ThreadInterpreter(PythonInterpreter interpreter) {
        this.interpreter = interpreter;
    }

    /** Returns this thread's interpreter; a task thread's brings the search path, a worker's finds it. */
    static ThreadInterpreter acquire(PythonEnvironment environment, boolean isTaskThread) throws BridgeException {
        ThreadInterpreter current = CURRENT.get();
        if (current == null) {
            current = new ThreadInterpreter(environment.newInterpreter(isTaskThread));
            CURRENT.set(current);
        }
        current.users++;
        return current;
    }

    /** Calls an entry point; arguments and result are long, ASCII text, {@code byte[]} or null. */
    Object invoke(EntryPoint entry, Object... arguments) {
        return interpreter.invoke(entry.callName(), arguments);
    }

    /** Closes the interpreter when nobody on this thread uses it any more. */
    void release() {
        users--;
        if (users == 0) {
            CURRENT.remove();
            interpreter.close();
        }
    }
}
