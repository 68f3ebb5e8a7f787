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

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One operator instance's way into Python: the interpreter of its mailbox thread and, when it has durable calls, the
 * threads beside it.
 *
 * <p>Thread: the mailbox thread, except where a method says otherwise.
 */
public final class PythonHost implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PythonHost.class);
    /** What an entry point returns after a failure; the failure itself was reported before. */
    private static final String FAILED = "failed";

    private final TaskFailure failure;
    private final PythonEnvironment environment;
    private final ThreadInterpreter interpreter;
    private String instance;
    private CallThreads threads;

    private PythonHost(TaskFailure failure, PythonEnvironment environment, ThreadInterpreter interpreter) {
        this.failure = failure;
        this.environment = environment;
        this.interpreter = interpreter;
    }

    /** Starts the interpreter of this thread and checks that jar and package fit. Nothing is left open on failure. */
    public static PythonHost open(PythonSpec spec, TaskFailure failure) throws Exception {
        ClusterSettings.check();
        PythonEnvironment environment = openEnvironment(spec);
        ThreadInterpreter interpreter = null;
        try {
            interpreter = ThreadInterpreter.acquire(environment, true);
            Object answer = interpreter.invoke(EntryPoint.HANDSHAKE);
            EntryPoint.checkHandshake((String) answer, environment.describe());
            return new PythonHost(failure, environment, interpreter);
        } catch (Throwable failed) {
            if (interpreter != null) {
                interpreter.release();
            }
            environment.close();
            throw failed;
        }
    }

    private static PythonEnvironment openEnvironment(PythonSpec spec) throws Exception {
        try {
            return PythonEnvironment.open(spec);
        } catch (LinkageError failed) {
            throw ClusterSettings.explain(failed).orElseThrow(() -> failed);
        }
    }

    /**
     * Calls an entry point, and throws the instance's first failure when there is one: the call's own, or one that a
     * worker thread left. Arguments and result are long, ASCII text, {@code byte[]} or null.
     */
    public Object call(EntryPoint entry, Object... arguments) throws Exception {
        Object result = interpreter.invoke(entry, arguments);
        if (failure.isSet()) {
            failure.rethrow();
        }
        if (FAILED.equals(result)) {
            throw new BridgeException("The entry point " + entry + " failed and could not report it; the log of the"
                    + " TaskManager has the traceback.");
        }
        return result;
    }

    /** The folder into which shipped Python files were unpacked; it need not exist. */
    public String pythonFilesDirectory() {
        return environment.pythonFilesDirectory();
    }

    /** Starts the background loop of an instance; {@code wake} is called on failures of threads, on any thread. */
    public void startThreads(String ofInstance, Runnable wake) {
        instance = ofInstance;
        threads = new CallThreads(environment, ofInstance, failure, wake);
        threads.start();
    }

    /** Runs a blocking call of the instance on a pool thread. */
    public void startCall(long call) {
        threads.startCall(call);
    }

    /** Tells the Python side that an instance ends, whatever state it is in; failures are logged, never thrown. */
    public void callQuietly(EntryPoint entry, Object... arguments) {
        quietly(() -> interpreter.invoke(entry, arguments));
    }

    /** Stops the threads, closes the interpreter, removes unpacked files; failures are logged, never thrown. */
    @Override
    public void close() {
        if (threads != null) {
            callQuietly(EntryPoint.STOP_LOOP, instance);
            quietly(threads::close);
        }
        quietly(interpreter::release);
        quietly(environment::close);
    }

    private static void quietly(Step step) {
        try {
            step.run();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } catch (Throwable failed) {
            // An exception of close() after a failed open() would end the TaskManager.
            LOG.warn("A step of closing the embedded Python failed.", failed);
        }
    }

    /** A step of closing. */
    private interface Step {
        void run() throws Exception;
    }
}
