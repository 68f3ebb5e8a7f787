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
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Row;

import java.util.ArrayList;
import java.util.List;

/** Asks the Python key selector for the keys of gathered elements, and sends the elements on in their order. */
@OnMailboxThread
final class PythonKeys {
    private final PythonHost python;
    private final String instance;
    private final Output<StreamRecord<Row>> output;
    private final Gathering gathering;
    private final List<byte[]> questions = new ArrayList<>();
    private final List<StreamRecord<Row>> elements = new ArrayList<>();

    PythonKeys(PythonHost python, String instance, MailboxExecutor mailbox, Output<StreamRecord<Row>> output) {
        this.python = python;
        this.instance = instance;
        this.output = output;
        this.gathering = new Gathering(mailbox, this::ask);
    }

    /**
     * Takes an element.
     *
     * @param question what the key is computed of
     * @param element the row to send, as yet without its key
     */
    void add(byte[] question, StreamRecord<Row> element) throws Exception {
        questions.add(question);
        elements.add(element);
        gathering.arrived(question.length);
    }

    /** Sends everything on. */
    void handOver() throws Exception {
        gathering.handOver();
    }

    private int ask() throws Exception {
        byte[] answer = (byte[]) python.call(EntryPoint.KEYS_OF, instance, Blobs.pack(questions));
        List<byte[]> keys = Blobs.unpack(answer);
        List<StreamRecord<Row>> answered = elements.subList(0, keys.size());
        for (int i = 0; i < keys.size(); i++) {
            StreamRecord<Row> element = answered.get(i);
            element.getValue().setField(0, KeyBytes.toFlinkKey(keys.get(i)));
            output.collect(element);
        }
        questions.subList(0, keys.size()).clear();
        answered.clear();
        return elements.size();
    }
}
