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
package io.github.flinkagents.subagent.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** The class path of the broker in {@code e2e/broker}, found by Maven once and kept in a file that the Python harness uses too. */
final class BrokerClassPath {
    private static final Path FOLDER = Path.of(System.getProperty("broker.directory", "../e2e/broker"));
    private static final Path FILE = FOLDER.resolve("target").resolve("classpath");
    private static final long MAVEN_MINUTES = 10;

    private BrokerClassPath() {}

    static Path folder() {
        return FOLDER.toAbsolutePath().normalize();
    }

    /** Returns the class path; the first call ever downloads the broker. */
    static String find() throws IOException, InterruptedException {
        Path pom = FOLDER.resolve("pom.xml");
        if (!isCurrent(pom)) {
            resolve(pom);
        }
        return Files.readString(FILE).strip();
    }

    private static boolean isCurrent(Path pom) throws IOException {
        return Files.exists(FILE)
                && Files.getLastModifiedTime(FILE).compareTo(Files.getLastModifiedTime(pom)) >= 0
                && Arrays.stream(Files.readString(FILE).strip().split(java.io.File.pathSeparator))
                        .allMatch(jar -> Files.exists(Path.of(jar)));
    }

    private static void resolve(Path pom) throws IOException, InterruptedException {
        Files.createDirectories(FILE.getParent());
        Path log = FILE.resolveSibling("maven.log");
        // Beside the file first: another build may be reading it.
        Path draft = Files.createTempFile(FILE.toAbsolutePath().getParent(), "classpath", ".tmp");
        Process maven = new ProcessBuilder(
                        mavenCommand(),
                        "-B",
                        "-ntp",
                        "-q",
                        "-f",
                        pom.toString(),
                        "dependency:build-classpath",
                        "-Dmdep.outputFile=" + draft)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        if (!maven.waitFor(MAVEN_MINUTES, TimeUnit.MINUTES) || maven.exitValue() != 0) {
            maven.destroyForcibly();
            throw new UncheckedIOException(
                    new IOException("Maven could not resolve the broker:\n" + Files.readString(log)));
        }
        Files.move(draft, FILE, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
    }

    private static String mavenCommand() {
        String home = System.getProperty("maven.home");
        return home == null || home.startsWith("$")
                ? "mvn"
                : Path.of(home, "bin", "mvn").toString();
    }
}
