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

import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Gathers its elements and sends how many go over together, for tests in the loop of a task. */
final class GatheringOperator extends AbstractStreamOperator<String>
        implements OneInputStreamOperator<String, String>, BoundedOneInput {
    private static final long serialVersionUID = 1L;

    private final transient Gathering gathering;
    private transient int waiting;

    private GatheringOperator(StreamOperatorParameters<String> parameters) {
        super(parameters);
        gathering = new Gathering(parameters.getMailboxExecutor(), this::handOver);
    }

    @Override
    public void processElement(StreamRecord<String> element) throws Exception {
        waiting++;
        gathering.arrived(1);
    }

    @Override
    public void endInput() throws Exception {
        gathering.handOver();
    }

    private int handOver() {
        output.collect(new StreamRecord<>(Integer.toString(waiting)));
        waiting = 0;
        return waiting;
    }

    /** Makes the operator. */
    static final class Factory extends AbstractStreamOperatorFactory<String>
            implements OneInputStreamOperatorFactory<String, String> {
        private static final long serialVersionUID = 1L;

        @Override
        @SuppressWarnings("unchecked")
        public <T extends StreamOperator<String>> T createStreamOperator(StreamOperatorParameters<String> parameters) {
            return (T) new GatheringOperator(parameters);
        }

        @Override
        @SuppressWarnings("rawtypes")
        public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
            return GatheringOperator.class;
        }
    }
}
