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

import org.junit.jupiter.api.Test;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Semaphore;

import static org.assertj.core.api.Assertions.assertThat;

/** What is left of a job's classes when its attempt has ended. */
class ClassReleaseTest {
    private static final String SAMPLES = "io.github.flinkagents.subagent.subagents.Sample";
    private static final int TRIES = 300;

    /** The classes of a job can be collected after it, those of rendered values too, although our own stay [P3, P4]. */
    @Test
    void classes_goWithTheirJob() throws Exception {
        ReferenceQueue<ClassLoader> collected = new ReferenceQueue<>();
        WeakReference<ClassLoader> loader = new WeakReference<>(runJob(), collected);

        // Each try waits for the collector for a moment.
        for (int tries = 0; tries < TRIES && loader.get() != null; tries++) {
            System.gc();
            collected.remove(100);
        }

        assertThat(loader.get()).isNull();
    }

    private static ClassLoader runJob() throws Exception {
        ClassLoader loader = new ChildFirst(ClassReleaseTest.class.getClassLoader(), SAMPLES);
        Semaphore wakes = new Semaphore(0);
        JavaSubagents subagents = new JavaSubagents(1, 1, loader, wakes::release, failed -> {});
        subagents.open(1, bytes("{'resource': 'r', 'class': '" + SAMPLES + "Subagents$Obedient', 'args': {}}"));
        subagents.call(
                1,
                1,
                bytes(
                        "{'operation': 'call', 'prompt': 'typed', 'session_id': 's', 'call_id': 'c', 'run': null, 'attempt': 1,"
                                + " 'deadline_ms': null, 'trace_parent': 't'}"));
        wakes.acquire();
        assertThat(new String(subagents.takeAnswers(), StandardCharsets.ISO_8859_1))
                .contains("{\"x\":1,\"y\":2}");
        subagents.stopCalls();
        subagents.close(1);
        return loader;
    }

    private static byte[] bytes(String json) {
        return json.replace('\'', '"').getBytes(StandardCharsets.US_ASCII);
    }
}
