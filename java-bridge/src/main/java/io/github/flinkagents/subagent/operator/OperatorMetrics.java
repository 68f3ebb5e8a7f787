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

import io.github.flinkagents.subagent.protocol.OnMailboxThread;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.metrics.DescriptiveStatisticsHistogram;

import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The metrics of one operator instance, in the group {@code agent} (E7.1). The engine's come through {@link #count} and
 * {@link #observe}; a label becomes a group {@code call=<label>}.
 */
@OnMailboxThread
final class OperatorMetrics {
    private static final int HISTOGRAM_SIZE = 1000;
    private static final String LABEL = "call";

    private final MetricGroup group;
    private final Map<Name, Counter> counters = new HashMap<>();
    private final Map<Name, Histogram> histograms = new HashMap<>();

    OperatorMetrics(MetricGroup operatorGroup) {
        group = operatorGroup.addGroup("agent");
    }

    /** Shows a value that is looked up when it is reported. */
    void gauge(String name, LongSupplier value) {
        group.gauge(name, (Gauge<Long>) value::getAsLong);
    }

    /** Adds to a counter of the engine; a negative amount takes away. */
    void count(String name, String label, long amount) {
        counters.computeIfAbsent(new Name(name, label), key -> groupOf(label).counter(name))
                .inc(amount);
    }

    /** Adds values to a histogram of the engine: big-endian 64-bit numbers. */
    void observe(String name, String label, byte[] values) {
        Histogram histogram = histograms.computeIfAbsent(
                new Name(name, label),
                key -> groupOf(label).histogram(name, new DescriptiveStatisticsHistogram(HISTOGRAM_SIZE)));
        LongBuffer numbers = ByteBuffer.wrap(values).asLongBuffer();
        while (numbers.hasRemaining()) {
            histogram.update(numbers.get());
        }
    }

    private MetricGroup groupOf(String label) {
        return label.isEmpty() ? group : group.addGroup(LABEL, label);
    }

    /** What a metric of the engine is found by. */
    private record Name(String metric, String label) {}
}
