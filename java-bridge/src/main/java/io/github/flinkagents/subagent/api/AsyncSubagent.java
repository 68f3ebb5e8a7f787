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

/**
 * A sub-agent behind a service with jobs: submitted, asked for their status until they have ended, fetched, cancelled. The
 * service knows a job by the request's call id.
 *
 * <p>Thread: all methods run on threads of the pool. Waiting between two questions costs none.
 */
public interface AsyncSubagent extends Subagent {
    /**
     * Sends the request.
     *
     * <p>Guarantee: what is to be done after a crash is asked of {@link #reconcile} first, so that a request that has reached
     * the service is not sent again.
     *
     * @param request who asks what; send its call id as the idempotency key
     * @return how the service names the run, a JSON value, which comes back as {@link SubagentRequest#run}; null when the call
     *     id says all; or a {@link SubagentResult}, which then is the outcome
     * @throws Exception when it could not be sent; tried again as the resource's retry policy says, then raised to the caller
     */
    Object submit(SubagentRequest request) throws Exception;

    /**
     * Asks how far the run is. What the service says about the run (it failed, it is not there) is a status; what keeps the
     * question from being answered is an exception.
     *
     * @throws Exception when the service cannot be asked; asked again as the resource's retry policy says, then raised to the
     *     caller
     */
    RunStatus queryStatus(SubagentRequest request) throws Exception;

    /**
     * Fetches the result of a completed run.
     *
     * @throws Exception as of {@link #queryStatus}
     */
    SubagentResult fetchResult(SubagentRequest request) throws Exception;

    /**
     * Cancels the run; may be called again, also for a run that has ended or never begun.
     *
     * @throws Exception when the service could not be told; it is told again
     */
    void cancel(SubagentRequest request) throws Exception;

    /**
     * Tells what became of a submit that was interrupted, by a crash or an exception: it is sent again unless the run
     * {@linkplain RunStatus#isKnown is known}.
     *
     * @throws Exception when it cannot tell
     */
    default RunStatus reconcile(SubagentRequest request) throws Exception {
        return queryStatus(request);
    }
}
