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
package io.github.flinkagents.subagent.store;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.opening;
import static io.github.flinkagents.subagent.store.StoreAttempt.record;
import static org.assertj.core.api.Assertions.assertThat;

/** The memory store: the contract, with nothing that survives and nobody who is fenced [S4.1]. */
class MemoryActionStateStoreTest extends ActionStateStoreContract {
    @Override
    ActionStateStore newStore() {
        return new MemoryActionStateStore();
    }

    @Override
    List<JournalRecord> survivors(List<JournalRecord> acknowledged) {
        return List.of();
    }

    @Override
    void assertFenced(CompletableFuture<Void> append) {
        assertThat(append).isCompleted();
    }

    /** Appends are acknowledged at once [S4.1]. */
    @Test
    void append_isAcknowledgedAtOnce() throws StoreException {
        assertThat(open(opening("sub", ALL, StoreOpening.Restored.NONE)).append(record(5, 1, 1)))
                .isCompleted();
    }
}
