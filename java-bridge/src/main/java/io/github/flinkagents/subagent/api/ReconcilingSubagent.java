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

import java.util.Optional;

/** A deferred sub-agent that can tell what became of a call, so that none is ever made twice. */
public interface ReconcilingSubagent extends DeferredSubagent {
    /**
     * Tells what became of a call that was in flight when the process died; asked in its place.
     *
     * <p>Thread: a thread of the pool.
     *
     * @param request the request of that call
     * @return its answer; empty when it never started, and it is then made
     * @throws Exception when it cannot tell; becomes a failed result
     */
    Optional<SubagentResult> reconcile(SubagentRequest request) throws Exception;
}
