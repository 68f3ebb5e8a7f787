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
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * What an interpreter tells about itself when it is run: its version and its site-packages. The embedded interpreter
 * finds neither by itself when the TaskManager was started outside of a virtual environment.
 *
 * @param path the executable, as configured
 * @param version the minor version, for instance {@code 3.11}
 * @param sitePackages the folders in which packages are installed
 * @param hasPemja whether the package pemja is installed there
 */
record PythonExecutable(String path, String version, List<String> sitePackages, boolean hasPemja) {
    private static final long TIMEOUT_SECONDS = 60;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, PythonExecutable> KNOWN = new ConcurrentHashMap<>();
    private static final String SCRIPT = String.join(
            "\n",
            "import importlib.util, json, sys, sysconfig",
            "paths = sysconfig.get_paths()",
            "print(json.dumps({",
            "    'version': '%d.%d' % sys.version_info[:2],",
            "    'sites': [paths['purelib'], paths['platlib']],",
            "    'pemja': importlib.util.find_spec('pemja') is not None}))");

    /** Runs the executable once per process and path; a failure names it and the remedy. */
    static PythonExecutable inspect(String path) throws BridgeException {
        PythonExecutable known = KNOWN.get(path);
        if (known == null) {
            known = parse(path, run(path));
            KNOWN.put(path, known);
        }
        return known;
    }

    /** Checks that packages can be embedded: pemja is there, and the version is the one that made the plan. */
    void check(String planVersion) throws BridgeException {
        if (!version.equals(planVersion)) {
            throw new BridgeException("The Python interpreter of the TaskManager, " + path + ", is version " + version
                    + "; the job was submitted with version " + planVersion + ". Set `python.executable` (option"
                    + " -pyexec of `flink run`) to an interpreter of version " + planVersion
                    + " that has the same packages.");
        }
        if (!hasPemja) {
            throw new BridgeException("The Python interpreter of the TaskManager, " + path
                    + ", has no package pemja. Install flink-agents-subagent (it brings apache-flink and pemja) into its"
                    + " environment, or set `python.executable` to an interpreter that has it.");
        }
    }

    private static String run(String path) throws BridgeException {
        try {
            ProcessBuilder builder = new ProcessBuilder(path, "-c", SCRIPT).redirectErrorStream(true);
            Process process = builder.start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw unusable(path, "it did not end within " + TIMEOUT_SECONDS + " s", null);
            }
            if (process.exitValue() != 0) {
                throw unusable(path, "it ended with status " + process.exitValue() + ": " + output.strip(), null);
            }
            return output;
        } catch (IOException failed) {
            throw unusable(path, failed.getMessage(), failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw unusable(path, "the task was cancelled meanwhile", interrupted);
        }
    }

    private static PythonExecutable parse(String path, String output) throws BridgeException {
        // A sitecustomize may print; our line is the last.
        String[] lines = output.strip().split("\n");
        try {
            JsonNode answer = JSON.readTree(lines[lines.length - 1]);
            Set<String> sites = new LinkedHashSet<>();
            answer.required("sites").forEach(site -> sites.add(site.asText()));
            return new PythonExecutable(
                    path,
                    answer.required("version").asText(),
                    new ArrayList<>(sites),
                    answer.required("pemja").asBoolean());
        } catch (IOException | IllegalArgumentException unexpected) {
            throw unusable(path, "it answered " + output.strip(), unexpected);
        }
    }

    private static BridgeException unusable(String path, String reason, Throwable cause) {
        return new BridgeException(
                "The Python interpreter `" + path + "` cannot be used: " + reason + ". Set `python.executable` (option"
                        + " -pyexec of `flink run`) to the absolute path of a Python that every TaskManager has, with"
                        + " flink-agents-subagent installed in it.",
                cause);
    }
}
