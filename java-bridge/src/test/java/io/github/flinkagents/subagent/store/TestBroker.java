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

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.jspecify.annotations.Nullable;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A Kafka broker in a process of its own, with free ports of the loopback interface and its own folder. Anybody may do
 * everything at {@link #address}; at {@link #saslAddress} the user {@code job} may do nothing that an ACL does not allow.
 */
final class TestBroker implements AutoCloseable {
    private static final String READY = "Kafka Server started";
    private static final long START_SECONDS = 120;
    private static @Nullable TestBroker shared;

    private final Path folder;
    private final int port;
    private final int saslPort;
    private final Quorum quorum;
    private final Process process;
    private final StringBuffer log = new StringBuffer();

    /** What the brokers of one cluster share: its id and where the controller is. */
    private record Quorum(String clusterId, int controllerPort) {}

    private TestBroker(Path folder, int[] ports, Quorum quorum, Process process) {
        this.folder = folder;
        this.port = ports[0];
        this.saslPort = ports[1];
        this.quorum = quorum;
        this.process = process;
    }

    /** The broker of this JVM, for tests that leave it alive; ends with the JVM. */
    static synchronized TestBroker shared() {
        if (shared == null) {
            TestBroker started = start();
            Runtime.getRuntime().addShutdownHook(new Thread(started::close));
            shared = started;
        }
        return shared;
    }

    /** Starts a broker; returns when it takes requests. */
    static TestBroker start() {
        return start(null);
    }

    /** Starts a second broker of the same cluster, which this one controls. */
    TestBroker startSecond() {
        return start(quorum);
    }

    private static TestBroker start(@Nullable Quorum joined) {
        try {
            int[] ports = freePorts(3);
            Quorum quorum = joined == null ? new Quorum(clusterId(), ports[2]) : joined;
            return startIn(Files.createTempDirectory("broker"), ports, quorum);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a broker was starting", e);
        }
    }

    String address() {
        return "127.0.0.1:" + port;
    }

    String saslAddress() {
        return "127.0.0.1:" + saslPort;
    }

    /** A client for everything; the caller closes it. */
    Admin admin() {
        return Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, address()));
    }

    /** Stops the process in its tracks; {@link #resume} lets it go on. */
    void pause() {
        signal("-STOP");
    }

    void resume() {
        signal("-CONT");
    }

    /** Changes a byte of what the broker holds of a partition, at the place of a text. */
    void damage(String topic, int partition, String text) throws IOException {
        Path segment = folder.resolve("data").resolve(topic + "-" + partition).resolve("00000000000000000000.log");
        int place = new String(Files.readAllBytes(segment), StandardCharsets.ISO_8859_1).indexOf(text);
        try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {'?'}), place);
        }
    }

    /** Kills the process with -9. */
    void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    @Override
    public void close() {
        kill();
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void signal(String name) {
        try {
            new ProcessBuilder("kill", name, String.valueOf(process.pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a broker was sent " + name, e);
        }
    }

    private static TestBroker startIn(Path folder, int[] ports, Quorum quorum)
            throws IOException, InterruptedException {
        int node = ports[2] == quorum.controllerPort ? 1 : 2;
        Path data = Files.createDirectory(folder.resolve("data"));
        // What `kafka-storage format` writes, without another JVM.
        Files.write(
                data.resolve("meta.properties"),
                List.of("version=1", "cluster.id=" + quorum.clusterId, "node.id=" + node));
        Path configuration = folder.resolve("server.properties");
        Files.write(configuration, properties(data, ports, node, quorum));
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx512m",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Dlog4j2.configurationFile="
                                + BrokerClassPath.folder()
                                        .resolve("log4j2.properties")
                                        .toUri(),
                        "-cp",
                        BrokerClassPath.find(),
                        "kafka.Kafka",
                        configuration.toString())
                .redirectErrorStream(true)
                .start();
        TestBroker broker = new TestBroker(folder, ports, quorum, process);
        broker.awaitReady();
        return broker;
    }

    private void awaitReady() {
        CompletableFuture<Boolean> ready = new CompletableFuture<>();
        Thread reader = new Thread(
                () -> {
                    try (BufferedReader lines = new BufferedReader(
                            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                        lines.lines().forEach(line -> {
                            log.append(line).append('\n');
                            if (line.contains(READY)) {
                                ready.complete(true);
                            }
                        });
                    } catch (IOException | UncheckedIOException e) {
                        log.append(e);
                    } finally {
                        ready.complete(false);
                    }
                },
                "broker-log");
        reader.setDaemon(true);
        reader.start();
        if (!ready.completeOnTimeout(false, START_SECONDS, TimeUnit.SECONDS).join()) {
            kill();
            throw new IllegalStateException("The broker did not start:\n" + log);
        }
    }

    private static String clusterId() {
        return UUID.randomUUID().toString().replace("-", "").substring(0, 22);
    }

    private static List<String> properties(Path data, int[] ports, int node, Quorum quorum) {
        String login = "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"broker\""
                + " password=\"secret\" user_broker=\"secret\" user_job=\"job-secret\";";
        return List.of(
                "process.roles=" + (node == 1 ? "broker,controller" : "broker"),
                "node.id=" + node,
                "listeners=PLAINTEXT://127.0.0.1:" + ports[0] + ",SASL_PLAINTEXT://127.0.0.1:" + ports[1]
                        + (node == 1 ? ",CONTROLLER://127.0.0.1:" + ports[2] : ""),
                "advertised.listeners=PLAINTEXT://127.0.0.1:" + ports[0] + ",SASL_PLAINTEXT://127.0.0.1:" + ports[1],
                "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
                "sasl.enabled.mechanisms=PLAIN",
                "listener.name.sasl_plaintext.plain.sasl.jaas.config=" + login,
                "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users=User:ANONYMOUS;User:broker",
                "controller.listener.names=CONTROLLER",
                "controller.quorum.voters=1@127.0.0.1:" + quorum.controllerPort,
                "broker.session.timeout.ms=3000",
                "broker.heartbeat.interval.ms=500",
                "log.dirs=" + data,
                "auto.create.topics.enable=false",
                "offsets.topic.replication.factor=1",
                "transaction.state.log.replication.factor=1",
                "transaction.state.log.min.isr=1");
    }

    private static int[] freePorts(int count) throws IOException {
        ServerSocket[] sockets = new ServerSocket[count];
        int[] ports = new int[count];
        for (int i = 0; i < count; i++) {
            sockets[i] = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            ports[i] = sockets[i].getLocalPort();
        }
        for (ServerSocket socket : sockets) {
            socket.close();
        }
        return ports;
    }
}
