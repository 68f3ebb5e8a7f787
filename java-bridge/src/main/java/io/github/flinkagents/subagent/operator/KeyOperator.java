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

import io.github.flinkagents.subagent.protocol.KeyBytes;
import io.github.flinkagents.subagent.protocol.OnMailboxThread;
import io.github.flinkagents.subagent.python.EntryPoint;
import io.github.flinkagents.subagent.python.PythonHost;
import io.github.flinkagents.subagent.python.TaskFailure;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.UUID;

/**
 * Turns any element into {@code Row(key text, value bytes)}: the value in its input format, the key canonical. The Python
 * key selector runs in process; a key that Java can take itself needs no Python at all (P7).
 */
@OnMailboxThread
final class KeyOperator extends AbstractStreamOperator<Row> implements OneInputStreamOperator<Object, Row> {
    private static final long serialVersionUID = 1L;
    private static final Set<String> PYTHON_SOURCES = Set.of("selector", "keyed-pickle");

    private final transient String instance = UUID.randomUUID().toString();
    private final transient Settings settings;
    private final transient byte[] selector;
    private final transient TaskFailure failure = new TaskFailure();
    private transient boolean isKeyed;
    private transient String element;
    private transient KeySource source;
    private final transient MailboxExecutor mailbox;
    private transient @Nullable PythonHost python;
    private transient @Nullable PythonKeys pythonKeys;

    KeyOperator(StreamOperatorParameters<Row> parameters, Settings settings, byte[] selector) {
        super(parameters);
        this.settings = settings;
        this.selector = selector;
        this.mailbox = parameters.getMailboxExecutor();
        this.isKeyed = settings.flag("keyed");
        this.element = settings.text("element");
    }

    /** Whether the keys are computed by Python. */
    static boolean needsPython(Settings settings) {
        return PYTHON_SOURCES.contains(settings.text("key-source"));
    }

    @Override
    public void open() throws Exception {
        super.open();
        if (needsPython(settings)) {
            python = PythonHost.open(PythonSpecs.of(this, settings), failure);
            python.call(EntryPoint.OPEN_KEY, new KeyHost(failure), instance, selector);
            pythonKeys = new PythonKeys(python, instance, mailbox, output);
        } else {
            source = newSource();
        }
    }

    @Override
    public void processElement(StreamRecord<Object> arrived) throws Exception {
        Object value = isKeyed ? ((Row) arrived.getValue()).getField(1) : arrived.getValue();
        byte[] encoded = encode(value);
        if (pythonKeys == null) {
            byte[] key = source.keyOf(arrived.getValue(), encoded);
            output.collect(arrived.replace(Row.of(KeyBytes.toFlinkKey(key), encoded)));
            return;
        }
        Object question = isKeyed ? ((Row) arrived.getValue()).getField(0) : encoded;
        StreamRecord<Row> unkeyed = new StreamRecord<>(Row.of(null, encoded));
        if (arrived.hasTimestamp()) {
            unkeyed.setTimestamp(arrived.getTimestamp());
        }
        pythonKeys.add((byte[]) question, unkeyed);
    }

    @Override
    public void processWatermark(Watermark mark) throws Exception {
        handOver();
        super.processWatermark(mark);
    }

    @Override
    public void processWatermarkStatus(WatermarkStatus status) throws Exception {
        handOver();
        super.processWatermarkStatus(status);
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        handOver();
        super.prepareSnapshotPreBarrier(checkpointId);
    }

    @Override
    public void finish() throws Exception {
        handOver();
        super.finish();
    }

    @Override
    public void close() throws Exception {
        if (python != null) {
            python.callQuietly(EntryPoint.CLOSE_KEY, instance);
            python.close();
        }
        super.close();
    }

    private KeySource newSource() {
        String kind = settings.text("key-source");
        return switch (kind) {
            case "keyed" -> KeySource.firstField();
            case "field" ->
                "java".equals(element)
                        ? KeySource.rowField(settings.text("key-field"))
                        : KeySource.jsonField(settings.text("key-field"));
            default -> throw new IllegalArgumentException("There is no key source `" + kind + "`");
        };
    }

    private void handOver() throws Exception {
        if (pythonKeys != null) {
            pythonKeys.handOver();
        }
    }

    private byte[] encode(@Nullable Object value) {
        return switch (element) {
            case "java" -> JavaValuePickler.pickle(value);
            case "string" -> cast(String.class, value).getBytes(StandardCharsets.UTF_8);
            default -> cast(byte[].class, value);
        };
    }

    private <T> T cast(Class<T> type, @Nullable Object value) {
        if (type.isInstance(value)) {
            return type.cast(value);
        }
        throw new IllegalArgumentException("An element of the stream is "
                + (value == null ? "null" : "a " + value.getClass().getName()) + " where the input format `" + element
                + "` expects a " + type.getSimpleName()
                + ". Give the stream that type, or choose another input format.");
    }

    /** What the Python side of a key operator may call. */
    public static final class KeyHost {
        private final TaskFailure failure;

        KeyHost(TaskFailure failure) {
            this.failure = failure;
        }

        /** Fails the task with an error object of the Python side. */
        public void fail(byte[] error) {
            failure.setPython(error);
        }
    }
}
