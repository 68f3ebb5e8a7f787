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
import org.apache.flink.runtime.state.KeyedStateBackend;

/** Selects the key whose state the next access means; mails run without a key of their own. */
@OnMailboxThread
final class CurrentKey {
    private final KeyedStateBackend<String> backend;

    CurrentKey(KeyedStateBackend<String> backend) {
        this.backend = backend;
    }

    /** Makes the key with these canonical bytes the current one. */
    void select(byte[] key) {
        backend.setCurrentKey(KeyBytes.toFlinkKey(key));
    }
}
