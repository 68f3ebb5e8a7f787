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

/** A sub-agent that is called once and answers once. Add {@link ReconcilingSubagent} when the other side remembers calls. */
public interface DeferredSubagent extends Subagent {
    /**
     * Does the work and returns the answer.
     *
     * <p>Guarantee: an exception becomes a failed result, with its class and message, after the retries of the resource. A
     * call that is cancelled or out of time has its thread interrupted, and its answer is dropped.
     *
     * <p>Replay: a call whose answer is journalled is not made again. One that was in flight when the process died is, with
     * the same call id.
     *
     * <p>Thread: a thread of the pool.
     *
     * @param request who asks what; send its call id as the idempotency key
     * @return the answer, or a failure that the caller should see as data
     * @throws Exception when it cannot answer
     */
    SubagentResult call(SubagentRequest request) throws Exception;
}
