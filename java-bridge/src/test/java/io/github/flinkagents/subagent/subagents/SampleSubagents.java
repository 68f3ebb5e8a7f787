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

import io.github.flinkagents.subagent.api.AsyncSubagent;
import io.github.flinkagents.subagent.api.DeferredSubagent;
import io.github.flinkagents.subagent.api.FailureReason;
import io.github.flinkagents.subagent.api.ReconcilingSubagent;
import io.github.flinkagents.subagent.api.RunStatus;
import io.github.flinkagents.subagent.api.SubagentRequest;
import io.github.flinkagents.subagent.api.SubagentResult;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/** Sub-agents as their developers might write them, well and badly. */
public final class SampleSubagents {
    private SampleSubagents() {}

    /** Does what its prompt says. */
    public static final class Obedient implements ReconcilingSubagent {
        static final BlockingQueue<Object> SEEN = new LinkedBlockingQueue<>();
        static CountDownLatch gate = new CountDownLatch(0);

        @Override
        public void open(Map<String, Object> args) {
            SEEN.add(args);
        }

        @Override
        public SubagentResult call(SubagentRequest request) throws Exception {
            SEEN.add(request);
            return switch (String.valueOf(request.prompt())) {
                case "wait" -> {
                    gate.await();
                    yield SubagentResult.ok("waited");
                }
                case "stubborn" -> {
                    stubbornly();
                    yield SubagentResult.ok("done all the same");
                }
                case "throw" -> throw new IllegalStateException("no quote");
                case "throw nothing" -> throw new IllegalStateException();
                case "error" -> throw new NoClassDefFoundError("com/acme/Missing");
                case "fatal" -> throw new OutOfMemoryError("on purpose");
                case "null" -> null;
                case "refuse" -> SubagentResult.error("too many", FailureReason.LIMIT);
                case "strange" -> SubagentResult.ok(Map.of("a", List.of(1.0, Double.NaN)));
                case "typed" -> SubagentResult.typed(List.of(new Samples.Point(1, 2)));
                case "loader" ->
                    SubagentResult.ok(
                            Thread.currentThread().getContextClassLoader().getName());
                default -> SubagentResult.ok(request.prompt());
            };
        }

        @Override
        public Optional<SubagentResult> reconcile(SubagentRequest request) {
            return request.prompt() == null ? Optional.empty() : Optional.of(SubagentResult.ok("found"));
        }

        @Override
        public void close() {
            SEEN.add("closed");
            throw new IllegalStateException("cannot be closed");
        }

        private static void stubbornly() {
            boolean isOpen = false;
            while (!isOpen) {
                try {
                    gate.await();
                    isOpen = true;
                } catch (InterruptedException ignored) {
                    SEEN.add("interrupted");
                }
            }
        }
    }

    /** Has jobs. */
    public static final class Jobs implements AsyncSubagent {
        @Override
        public Object submit(SubagentRequest request) {
            return request.prompt() == null ? SubagentResult.error("no") : List.of("job", request.callId());
        }

        @Override
        public RunStatus queryStatus(SubagentRequest request) {
            return RunStatus.of(RunStatus.State.RUNNING, String.valueOf(request.run()))
                    .askAgainIn(Duration.ofSeconds(2))
                    .ofRun("job 1");
        }

        @Override
        public SubagentResult fetchResult(SubagentRequest request) {
            return SubagentResult.ok(7);
        }

        @Override
        public void cancel(SubagentRequest request) {
            throw new UnsupportedOperationException("cannot be stopped");
        }
    }

    /** Implements nothing. */
    public static final class Stranger {}

    /** Both at once. */
    public abstract static class Undecided implements DeferredSubagent, AsyncSubagent {}

    /** Not to be made. */
    public abstract static class Unfinished implements DeferredSubagent {}

    /** Needs more than it gets. */
    public static final class Demanding implements DeferredSubagent {
        public Demanding(String need) {}

        @Override
        public SubagentResult call(SubagentRequest request) {
            return SubagentResult.ok(null);
        }
    }

    /** Cannot be made. */
    public static final class Failing implements DeferredSubagent {
        public Failing() {
            throw new IllegalArgumentException("no licence");
        }

        @Override
        public SubagentResult call(SubagentRequest request) {
            return SubagentResult.ok(null);
        }
    }

    /** Cannot be loaded. */
    public static final class Broken implements DeferredSubagent {
        static final int VALUE = Integer.parseInt("no number");

        @Override
        public SubagentResult call(SubagentRequest request) {
            return SubagentResult.ok(VALUE);
        }
    }

    /** Cannot be opened. */
    public static final class Closed implements DeferredSubagent {
        static boolean isClosed;

        @Override
        public void open(Map<String, Object> args) throws Exception {
            throw new IOException("no " + args.get("url"));
        }

        @Override
        public SubagentResult call(SubagentRequest request) {
            return SubagentResult.ok(null);
        }

        @Override
        public void close() {
            isClosed = true;
        }
    }
}
