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

import io.github.flinkagents.subagent.python.TaskFailure;
import org.junit.jupiter.api.Test;

import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The border on the Java side: failures keep their identity, threads are checked. */
class EngineHostTest {
    /** An effect: an empty output. */
    private static final byte[] EMIT = HexFormat.of().parseHex("01000000000000000500000000");

    private final TaskFailure failure = new TaskFailure();

    /** An exception of an effect is kept before it goes through Python [P5]. */
    @Test
    void failingEffect_isKeptAsItIs() {
        IllegalStateException original = new IllegalStateException("downstream is gone");
        EngineHost host = host(original);

        assertThatThrownBy(() -> host.perform(EMIT)).isSameAs(original);
        assertThatThrownBy(failure::rethrow).isSameAs(original);
    }

    /** An effect from another thread is refused and fails the task [P5]. */
    @Test
    void effect_onAnotherThread_isRefused() {
        EngineHost host = host(null);
        CompletableFuture<Void> elsewhere = CompletableFuture.runAsync(() -> {
            try {
                host.perform(EMIT);
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        });

        assertThatThrownBy(elsewhere::get)
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("not from the task's own");
        assertThat(failure.isSet()).isTrue();
    }

    /** Python may keep the host for many restarts: of the attempt nothing is kept with it [P3, PF9]. */
    @Test
    void close_letsGoOfTheAttempt() throws Exception {
        EngineHost[] kept = new EngineHost[1];

        boolean isReleased = Released.isReleased(() -> {
            EngineHost.Effects effects = effects(null);
            kept[0] = new EngineHost(failure, effects, 8);
            kept[0].close();
            return effects;
        });

        assertThat(isReleased).isTrue();
        assertThat(kept[0]).isNotNull();
    }

    /** Threads that outlive the task are ignored; the engine, which must not call any more, is told so [P3, P5]. */
    @Test
    void close_ignoresOtherThreads() {
        EngineHost host = host(null);
        host.close();

        assertThatCode(host::wake).doesNotThrowAnyException();
        assertThatCode(() -> host.callSubagent(1, 1, new byte[0])).doesNotThrowAnyException();
        assertThatCode(() -> host.cancelSubagentCall(1)).doesNotThrowAnyException();
        assertThatThrownBy(host::now).hasMessageContaining("after the task had ended");
    }

    private EngineHost host(RuntimeException thrown) {
        return new EngineHost(failure, effects(thrown), 8);
    }

    private static EngineHost.Effects effects(RuntimeException thrown) {
        EngineHost.Outputs outputs = new EngineHost.Outputs() {
            @Override
            public void emit(byte[] payload, long timestamp) {
                if (thrown != null) {
                    throw thrown;
                }
            }

            @Override
            public void emitDeadLetter(byte[] payload, long timestamp) {
                throw new UnsupportedOperationException();
            }
        };
        return new EngineHost.Effects(
                outputs, null, () -> 0L, null, null, null, null, call -> {}, null, null, null, null, null);
    }
}
