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

import org.apache.flink.python.env.PythonDependencyInfo;
import org.apache.flink.python.env.embedded.EmbeddedPythonEnvironment;
import org.apache.flink.python.env.embedded.EmbeddedPythonEnvironmentManager;
import pemja.core.PythonInterpreter;
import pemja.core.PythonInterpreterConfig;
import pemja.core.PythonInterpreterConfig.ExecType;

import java.io.File;
import java.util.HashMap;
import java.util.Optional;

/**
 * The author's Python environment in this TaskManager: shipped files unpacked, requirements installed, the site-packages
 * of the configured executable, {@code .pth} files of editable installs included.
 *
 * <p>Only {@code MULTI_THREAD} interpreters are made: the second sub-interpreter of a process cannot load most extension
 * modules.
 */
final class PythonEnvironment implements AutoCloseable {
    private static final String PYTHON_FILES = "python-files";
    private static final String NO_PACKAGE = "No module named 'flink_agents_subagent'";
    /**
     * Site-packages go behind the standard library, as in any Python; pemja has put them before it. They go before those of
     * the Python that a virtual environment is made of, which itself would not see them.
     */
    private static final String BOOTSTRAP = String.join(
            "\n",
            "import sys",
            "fas_error = ''",
            "try:",
            "    import site, threading",
            // Several tasks, of several jobs too, do this at once: the second must find what the first is still adding.
            "    with sys.__dict__.setdefault('_fas_lock', threading.Lock()):",
            "        fas_known = getattr(sys, '_fas_sites', ())",
            "        fas_new = [p for p in fas_sites.split(chr(10)) if p and p not in fas_known]",
            "        fas_all = (*fas_known, *fas_new)",
            "        fas_others = {*site.getsitepackages(), site.getusersitepackages()}.difference(fas_all)",
            "        fas_base = [p for p in sys.path if p in fas_others]",
            "        for fas_site in fas_all:",
            // At no moment is it missing: other threads import.
            "            sys.path.insert(sys.path.index(fas_base[0]) if fas_base else len(sys.path), fas_site)",
            "            while sys.path.count(fas_site) > 1:",
            "                sys.path.remove(fas_site)",
            "        for fas_site in fas_new:",
            "            site.addsitedir(fas_site)",
            "        sys._fas_sites = fas_all",
            "    import " + EntryPoint.MODULE + " as fas",
            "    import flink_agents_subagent._flink.process as fas_process",
            // A package of another release may have none; the handshake is still to come, and says so.
            "    getattr(fas_process, 'note_interpreter', int)()",
            "except BaseException:",
            "    import traceback",
            "    fas_error = traceback.format_exc()",
            "");

    private final EmbeddedPythonEnvironmentManager manager;
    private final PythonExecutable executable;
    private final PythonInterpreterConfig config;
    private final PythonInterpreterConfig workerConfig;

    private PythonEnvironment(
            EmbeddedPythonEnvironmentManager manager, PythonExecutable executable, PythonInterpreterConfig resolved) {
        this.manager = manager;
        this.executable = executable;
        this.config = builder(resolved)
                .addPythonPaths(resolved.getPaths())
                .addPythonPaths(executable.sitePackages().toArray(String[]::new))
                .build();
        this.workerConfig = builder(resolved).build();
    }

    /** Unpacks and installs what the job ships, and inspects the interpreter. Mailbox thread. */
    static PythonEnvironment open(PythonSpec spec) throws Exception {
        EmbeddedPythonEnvironmentManager manager = new EmbeddedPythonEnvironmentManager(
                dependencies(spec), spec.temporaryDirectories(), new HashMap<>(System.getenv()), spec.jobId());
        try {
            manager.open();
            PythonInterpreterConfig resolved = ((EmbeddedPythonEnvironment) manager.createEnvironment()).getConfig();
            refuseVirtualEnvironmentAsHome(resolved.getPythonHome());
            PythonExecutable executable = PythonExecutable.inspect(resolved.getPythonExec());
            executable.check(spec.planVersion());
            return new PythonEnvironment(manager, executable, resolved);
        } catch (Throwable failed) {
            manager.close();
            throw failed;
        }
    }

    /** The folder into which shipped Python files were unpacked; it need not exist. */
    String pythonFilesDirectory() {
        return new File(manager.getBaseDirectory(), PYTHON_FILES).getPath();
    }

    /** Names the interpreter, for messages. */
    String describe() {
        return executable.path() + " (version " + executable.version() + ")";
    }

    /** Makes an interpreter for this thread; only {@link ThreadInterpreter} may, one thread must not have two. */
    PythonInterpreter newInterpreter(boolean isFirst) throws BridgeException {
        // The module search path is one for the process: a worker's interpreter finds it ready.
        PythonInterpreter interpreter = start(isFirst ? config : workerConfig);
        try {
            interpreter.set("fas_sites", String.join("\n", executable.sitePackages()));
            interpreter.exec(BOOTSTRAP);
            String error = (String) interpreter.get("fas_error");
            if (!error.isEmpty()) {
                throw unimportable(error);
            }
            return interpreter;
        } catch (Throwable failed) {
            interpreter.close();
            throw failed;
        }
    }

    @Override
    public void close() throws Exception {
        manager.close();
    }

    private PythonInterpreter start(PythonInterpreterConfig chosen) throws BridgeException {
        try {
            return new PythonInterpreter(chosen);
        } catch (Throwable failed) {
            throw ClusterSettings.explain(failed)
                    .orElseGet(() -> new BridgeException(
                            "The Python interpreter " + executable.path() + " cannot be embedded: "
                                    + failed.getMessage(),
                            failed));
        }
    }

    private BridgeException unimportable(String traceback) {
        String reason = traceback.contains(NO_PACKAGE)
                ? "has no package flink-agents-subagent. Install it into the environment of that interpreter on every"
                        + " TaskManager, ship it with `python.files`, or set `python.executable` to an interpreter that has it."
                : "cannot import flink_agents_subagent. Install the packages that the traceback names into its environment.";
        return new BridgeException(
                "The Python interpreter of the TaskManager, " + describe() + ", " + reason + "\n" + traceback.strip());
    }

    private static PythonDependencyInfo dependencies(PythonSpec spec) {
        PythonDependencyInfo told = PythonDependencyInfo.create(spec.config(), spec.cache());
        return new PythonDependencyInfo(
                told.getPythonFiles(),
                told.getRequirementsFilePath().orElse(null),
                told.getRequirementsCacheDir().orElse(null),
                told.getArchives(),
                Optional.ofNullable(spec.executable()).orElse(told.getPythonExec()),
                "thread",
                told.getPythonPath().orElse(null));
    }

    private static void refuseVirtualEnvironmentAsHome(String home) throws BridgeException {
        // With such a home CPython ends the process: the standard library is not in it.
        if (home != null && new File(home, "pyvenv.cfg").exists()) {
            throw new BridgeException(
                    "The Python archive " + home + " is a virtual environment without a Python of its own."
                            + " Ship a relocatable Python instead (for instance made by conda-pack), or install the environment on"
                            + " the TaskManagers and set `python.executable` to it.");
        }
    }

    private static PythonInterpreterConfig.PythonInterpreterConfigBuilder builder(PythonInterpreterConfig resolved) {
        PythonInterpreterConfig.PythonInterpreterConfigBuilder builder = PythonInterpreterConfig.newBuilder()
                .setExcType(ExecType.MULTI_THREAD)
                .setPythonExec(resolved.getPythonExec());
        if (resolved.getPythonHome() != null) {
            builder.setPythonHome(resolved.getPythonHome());
        }
        if (resolved.getWorkingDirectory() != null) {
            builder.setWorkingDirectory(resolved.getWorkingDirectory());
        }
        return builder;
    }
}
