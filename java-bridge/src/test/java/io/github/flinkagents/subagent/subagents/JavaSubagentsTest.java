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
package io.github.flinkagents.subagent.subagents;

import io.github.flinkagents.subagent.api.SubagentRequest;
import io.github.flinkagents.subagent.subagents.SampleSubagents.Obedient;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.math.BigInteger;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** The life of sub-agents and of their calls. */
class JavaSubagentsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String REQUEST = """
            {"operation": "%s", "prompt": %s, "session_id": "s", "call_id": "c", "run": "job", "attempt": 2,
             "deadline_ms": 1000, "trace_parent": "t"}""";

    private final Semaphore wakes = new Semaphore(0);
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private final ClassLoader loader =
            new URLClassLoader("the job's", new URL[0], getClass().getClassLoader());
    private final JavaSubagents subagents = new JavaSubagents(1, 1, loader, wakes::release, failures::add);

    @BeforeEach
    void forget() {
        Obedient.SEEN.clear();
        Obedient.gate = new CountDownLatch(1);
    }

    @AfterEach
    void stop() throws Exception {
        Obedient.gate.countDown();
        subagents.stopCalls();
    }

    /** A request arrives whole, on a thread with the job's class loader, and its answer goes back under the call's number [B1, B3]. */
    @Test
    void call_isAnswered() throws Exception {
        open(1, "Obedient", "{\"a\": [1, 2.5, null]}");
        subagents.call(7, 1, request("call", "{\"n\": 18446744073709551616, \"m\": 3, \"t\": \"\\u00e9\\ud800\"}"));
        JsonNode answer = answer(7);
        subagents.call(8, 1, request("call", "\"loader\""));

        assertThat(Obedient.SEEN.poll()).isEqualTo(Map.of("a", Arrays.asList(1L, 2.5, null)));
        Map<String, Object> prompt = Map.of("n", new BigInteger("18446744073709551616"), "m", 3L, "t", "é\ud800");
        assertThat(Obedient.SEEN.poll())
                .isEqualTo(
                        new SubagentRequest(prompt, "s", "c", "job", 2, Optional.of(Instant.ofEpochMilli(1000)), "t"));
        assertThat(answer.at("/result/value/t").asText()).isEqualTo("é\ud800");
        assertThat(answer.at("/result/value/n").bigIntegerValue()).isEqualTo(prompt.get("n"));
        assertThat(answer(8).at("/result/value").asText()).isEqualTo("the job's");
    }

    /** A failure, a refusal, a result that JSON cannot express and an exception are each told apart [B4, B5, V1, T9]. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    refuse        | {"result":{"ok":false,"error":"too many","reason":"limit"}}
                    strange       | {"result":{"ok":false,"error":"result.a[1] is NaN, which JSON cannot express","reason":"error"}}
                    typed         | {"result":{"ok":true,"value":[{"x":1,"y":2}]}}
                    throw         | {"raised":{"type":"java.lang.IllegalStateException","message":"no quote"}}
                    throw nothing | {"raised":{"type":"java.lang.IllegalStateException","message":""}}
                    error         | {"raised":{"type":"java.lang.NoClassDefFoundError","message":"com/acme/Missing"}}
                    """)
    void outcome_isTold(String prompt, String expected) throws Exception {
        open(1, "Obedient", "{}");

        subagents.call(1, 1, request("call", "\"" + prompt + "\""));

        assertThat(answer(1)).isEqualTo(JSON.readTree(expected));
    }

    /** A method that returns nothing is the developer's mistake, and says so [B5]. */
    @Test
    void nullResult_isRaised() throws Exception {
        open(1, "Obedient", "{}");

        subagents.call(1, 1, request("call", "\"null\""));

        assertThat(answer(1).at("/raised/message").asText()).contains("return SubagentResult.ok(null)");
    }

    /** A reconciler tells the answer, or that there was none [B1]. */
    @Test
    void reconcile_tellsAnswerOrNone() throws Exception {
        open(1, "Obedient", "{}");

        subagents.call(1, 1, request("reconcile", "1"));
        assertThat(answer(1)).isEqualTo(JSON.readTree("{\"result\":{\"ok\":true,\"value\":\"found\"}}"));
        subagents.call(2, 1, request("reconcile", "null"));
        assertThat(answer(2)).isEqualTo(JSON.readTree("{\"done\":true}"));
    }

    /** Each method of an asynchronous sub-agent is reached, reconcile by way of the status unless it is implemented [B1, M2]. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    submit    | 1    | {"run":["job","c"]}
                    submit    | null | {"result":{"ok":false,"error":"no","reason":"error"}}
                    status    | 1    | {"status":{"state":"RUNNING","reason":"job","retry_after_ms":2000,"run":"job 1"}}
                    reconcile | 1    | {"status":{"state":"RUNNING","reason":"job","retry_after_ms":2000,"run":"job 1"}}
                    fetch     | 1    | {"result":{"ok":true,"value":7}}
                    cancel    | 1    | {"raised":{"type":"java.lang.UnsupportedOperationException","message":"cannot be stopped"}}
                    """)
    void asyncOperation_isPerformed(String operation, String prompt, String expected) throws Exception {
        JsonNode opened = open(1, "Jobs", "{}");
        subagents.call(1, 1, request(operation, prompt));

        assertThat(opened).isEqualTo(JSON.readTree("{\"mode\":\"async\",\"reconciles\":true}"));
        assertThat(answer(1)).isEqualTo(JSON.readTree(expected));
    }

    /** An error of the JVM is no outcome: the task fails with it [P5, B5]. */
    @Test
    void fatalError_failsTheTask() throws Exception {
        open(1, "Obedient", "{}");

        subagents.call(1, 1, request("call", "\"fatal\""));

        assertThat(failures.poll(30, TimeUnit.SECONDS)).isInstanceOf(OutOfMemoryError.class);
        assertThat(subagents.takeAnswers()).isEmpty();
    }

    /** A cancelled call is interrupted and not answered; one that waits does not start [I6, E3.11, B2]. */
    @Test
    void cancelledCall_isInterruptedOrNeverStarts() throws Exception {
        open(1, "Obedient", "{}");
        Obedient.SEEN.clear();
        subagents.call(1, 1, request("call", "\"wait\""));
        Obedient.SEEN.take();
        subagents.call(2, 1, request("call", "\"never\""));
        subagents.call(3, 1, request("call", "\"last\""));

        subagents.cancel(2);
        subagents.cancel(1);

        assertThat(answer(3).at("/result/value").asText()).isEqualTo("last");
        assertThat(Obedient.SEEN).hasSize(1);
        assertThat(subagents.takeAnswers()).isEmpty();
    }

    /** A call that ignores its interrupt holds a thread, which is replaced, but not without end [E3.10, B3]. */
    @Test
    void stubbornCall_isReplacedUpToABound() throws Exception {
        open(1, "Obedient", "{}");
        Obedient.SEEN.clear();
        subagents.call(1, 1, request("call", "\"stubborn\""));
        Obedient.SEEN.take();
        subagents.cancel(1);
        assertThat(Obedient.SEEN.take()).isEqualTo("interrupted");

        subagents.call(2, 1, request("call", "\"stubborn\""));
        Obedient.SEEN.take();
        subagents.cancel(2);
        assertThat(Obedient.SEEN.take()).isEqualTo("interrupted");
        subagents.call(3, 1, request("call", "\"third\""));
        assertThat(wakes.availablePermits()).isZero();
        assertThat(Obedient.SEEN).isEmpty();

        Obedient.gate.countDown();
        assertThat(answer(3).at("/result/value").asText()).isEqualTo("third");
        subagents.call(4, 1, request("call", "\"fourth\""));
        assertThat(answer(4).at("/result/value").asText()).isEqualTo("fourth");
    }

    /** Closing interrupts what runs, lets nothing start, and passes over what close() throws [R3, P3]. */
    @Test
    void closing_interruptsAndCloses() throws Exception {
        open(1, "Obedient", "{}");
        Obedient.SEEN.clear();
        subagents.call(1, 1, request("call", "\"wait\""));
        Obedient.SEEN.take();

        subagents.stopCalls();
        subagents.call(2, 1, request("call", "\"late\""));
        subagents.close(1);
        subagents.close(1);

        assertThat(Obedient.SEEN).containsExactly("closed");
        assertThat(subagents.takeAnswers()).isEmpty();
        assertThat(failures).isEmpty();
    }

    private JsonNode open(long number, String name, String args) throws Exception {
        String description = """
                {"resource": "r", "class": "%s$%s", "args": %s}""".formatted(SampleSubagents.class.getName(), name, args);
        return JSON.readTree(subagents.open(number, description.getBytes(StandardCharsets.US_ASCII)));
    }

    private static byte[] request(String operation, String prompt) {
        return REQUEST.formatted(operation, prompt).getBytes(StandardCharsets.US_ASCII);
    }

    private JsonNode answer(long call) throws Exception {
        boolean isWoken = wakes.tryAcquire(30, TimeUnit.SECONDS);
        assertThat(failures).isEmpty();
        assertThat(isWoken).as("an answer to call %s", call).isTrue();
        ByteBuffer packed = ByteBuffer.wrap(subagents.takeAnswers());
        assertThat(packed.getLong()).isEqualTo(call);
        byte[] answer = new byte[packed.getInt()];
        packed.get(answer);
        assertThat(packed.hasRemaining()).isFalse();
        return JSON.readTree(answer);
    }
}
