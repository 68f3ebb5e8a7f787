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

import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.types.Row;

/** Carries an agent's plan and settings to the TaskManagers. Made by the Python submission. */
public final class AgentOperatorFactory extends AbstractStreamOperatorFactory<Object>
        implements OneInputStreamOperatorFactory<Row, Object> {
    private static final long serialVersionUID = 1L;

    private final byte[] plan;
    private final byte[] settings;

    /**
     * Makes the factory of one agent.
     *
     * @param plan the agent, opaque to Java
     * @param settings UTF-8 JSON (decision 0005)
     */
    public AgentOperatorFactory(byte[] plan, byte[] settings) {
        Settings.parse(settings);
        this.plan = plan.clone();
        this.settings = settings.clone();
        // Two interpreters on one thread hang, so no PyFlink operator in thread mode may share the task.
        setChainingStrategy(ChainingStrategy.NEVER);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends StreamOperator<Object>> T createStreamOperator(StreamOperatorParameters<Object> parameters) {
        return (T) new AgentOperator(parameters, plan, Settings.parse(settings));
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return AgentOperator.class;
    }
}
