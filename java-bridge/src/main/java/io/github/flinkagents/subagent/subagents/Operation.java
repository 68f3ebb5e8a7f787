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
import io.github.flinkagents.subagent.api.ReconcilingSubagent;
import io.github.flinkagents.subagent.api.Subagent;
import io.github.flinkagents.subagent.api.SubagentRequest;

import java.util.Arrays;

/** What the Python side asks of a sub-agent, by the name that crosses. */
enum Operation {
    CALL("call") {
        @Override
        Answer perform(Subagent subagent, SubagentRequest request) throws Exception {
            return Answer.of(((DeferredSubagent) subagent).call(request));
        }
    },
    RECONCILE("reconcile") {
        @Override
        Answer perform(Subagent subagent, SubagentRequest request) throws Exception {
            if (subagent instanceof AsyncSubagent async) {
                return Answer.of(async.reconcile(request));
            }
            return ((ReconcilingSubagent) subagent)
                    .reconcile(request)
                    .map(Answer::of)
                    .orElse(Answer.DONE);
        }
    },
    SUBMIT("submit") {
        @Override
        Answer perform(Subagent subagent, SubagentRequest request) throws Exception {
            return Answer.ofSubmit(((AsyncSubagent) subagent).submit(request));
        }
    },
    STATUS("status") {
        @Override
        Answer perform(Subagent subagent, SubagentRequest request) throws Exception {
            return Answer.of(((AsyncSubagent) subagent).queryStatus(request));
        }
    },
    FETCH("fetch") {
        @Override
        Answer perform(Subagent subagent, SubagentRequest request) throws Exception {
            return Answer.of(((AsyncSubagent) subagent).fetchResult(request));
        }
    },
    CANCEL("cancel") {
        @Override
        Answer perform(Subagent subagent, SubagentRequest request) throws Exception {
            ((AsyncSubagent) subagent).cancel(request);
            return Answer.DONE;
        }
    };

    private final String text;

    Operation(String text) {
        this.text = text;
    }

    /** Calls the method; what it throws is the author's. */
    abstract Answer perform(Subagent subagent, SubagentRequest request) throws Exception;

    static Operation of(String text) {
        return Arrays.stream(values())
                .filter(known -> known.text.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("Unknown operation " + text));
    }
}
