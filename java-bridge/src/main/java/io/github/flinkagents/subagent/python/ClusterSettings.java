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

import org.apache.flink.util.FlinkUserCodeClassLoader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import pemja.core.PythonInterpreter;

import java.util.Optional;

/**
 * What a session cluster must be told so that several jobs can embed Python in one TaskManager: pemja's native library
 * belongs to one class loader per process, so that loader must not be a job's own.
 */
final class ClusterSettings {
    static final String REMEDY =
            "Put the flink-python jar of PyFlink's `opt` folder into the cluster's `lib` folder and set"
                    + " `classloader.parent-first-patterns.additional: pemja.` in the configuration of JobManager and TaskManagers,"
                    + " then restart them.";

    private static final Logger LOG = LoggerFactory.getLogger(ClusterSettings.class);

    private ClusterSettings() {}

    /** Warns when this job is the last that can embed Python in this TaskManager process. */
    static void check() {
        if (isLoadedByJob(PythonInterpreter.class.getClassLoader())) {
            LOG.warn(
                    "pemja was loaded by the class loader of this job: a second job with Python agents in this"
                            + " TaskManager process will fail. {}",
                    REMEDY);
        }
    }

    /** Turns a failure to load pemja into one that tells the remedy; empty for any other failure. */
    static Optional<BridgeException> explain(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof LinkageError || cause instanceof NoSuchFieldException) {
                return Optional.of(new BridgeException(
                        "pemja cannot be loaded for this job (" + cause + "): another job of this TaskManager process"
                                + " has loaded it, or it is loaded by two class loaders. " + REMEDY,
                        failure));
            }
        }
        return Optional.empty();
    }

    static boolean isLoadedByJob(ClassLoader loader) {
        return loader instanceof FlinkUserCodeClassLoader;
    }
}
