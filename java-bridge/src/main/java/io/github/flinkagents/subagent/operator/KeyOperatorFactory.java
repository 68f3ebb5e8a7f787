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

/** Carries a key selector and its settings to the TaskManagers. Made by the Python submission. */
public final class KeyOperatorFactory extends AbstractStreamOperatorFactory<Row>
        implements OneInputStreamOperatorFactory<Object, Row> {
    private static final long serialVersionUID = 1L;

    private final byte[] settings;
    private final byte[] selector;

    /**
     * Makes the factory.
     *
     * @param settings UTF-8 JSON (decision 0005)
     * @param selector the key selector, opaque to Java; empty when Java takes the key
     */
    public KeyOperatorFactory(byte[] settings, byte[] selector) {
        this.settings = settings.clone();
        this.selector = selector.clone();
        setChainingStrategy(
                mayShareThread(Settings.parse(settings)) ? ChainingStrategy.ALWAYS : ChainingStrategy.NEVER);
    }

    private static boolean mayShareThread(Settings settings) {
        // Two interpreters on one thread hang, so no PyFlink operator in thread mode may share the task. A row knows
        // its
        // field names only after it went through its serializer, which object reuse leaves out within a chain.
        return !KeyOperator.needsPython(settings) && !"java".equals(settings.text("element"));
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends StreamOperator<Row>> T createStreamOperator(StreamOperatorParameters<Row> parameters) {
        return (T) new KeyOperator(parameters, Settings.parse(settings), selector);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return KeyOperator.class;
    }
}
