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
package io.github.flinkagents.subagent.api;

import java.util.Map;

/**
 * A sub-agent that Python agents of a job call. Implement {@link DeferredSubagent} or {@link AsyncSubagent}; the class needs
 * a public constructor without arguments. There is one instance for each resource and subtask.
 *
 * <p>Guarantee: {@link #open} returns before the first call, {@link #close} is called once after the last was told to end.
 *
 * <p>Thread: {@code open} and {@code close} run on the task's thread, which must not wait there for long; everything else on
 * several threads of a pool, at the same time. Their context class loader is the job's.
 */
public interface Subagent {
    /**
     * Acquires what calls need.
     *
     * @param args the {@code args} of the Python resource: JSON values as in {@link SubagentRequest#prompt}
     * @throws Exception when it cannot; the job then fails with the resource named
     */
    default void open(Map<String, Object> args) throws Exception {}

    /**
     * Releases what {@link #open} acquired; copes with an {@code open} that failed half-way. Calls that were interrupted may
     * still run.
     *
     * @throws Exception which is logged, and ignored
     */
    default void close() throws Exception {}
}
