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

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** The store in a Kafka topic. Records and protocol: {@code docs/decisions/0006-kafka-store.md}. */
public final class KafkaActionStateStore implements ActionStateStore {
    private final StoreSettings settings;
    private final KafkaSettings kafka;
    private @Nullable KafkaAttempt attempt;

    /** Makes a store of these settings; nothing is connected before {@link #open}. */
    KafkaActionStateStore(StoreSettings settings, KafkaSettings kafka) {
        this.settings = settings;
        this.kafka = kafka;
    }

    @Override
    public StoreTail open(StoreOpening opening) throws StoreException {
        if (attempt != null) {
            throw new IllegalStateException("The store is open already");
        }
        KafkaAttempt.Opened opened = KafkaAttempt.open(settings, kafka, opening);
        attempt = opened.attempt();
        return opened.tail();
    }

    @Override
    public CompletableFuture<Void> append(List<JournalRecord> batch) {
        return opened().append(batch);
    }

    @Override
    public Map<Integer, StorePosition> positions(long checkpointId) {
        return opened().positions(checkpointId);
    }

    @Override
    public void release(long checkpointId, Map<Integer, StorePosition> positionsOfOldestRetained) {
        opened().release(positionsOfOldestRetained);
    }

    @Override
    public void close() {
        if (attempt != null) {
            attempt.close();
        }
    }

    private KafkaAttempt opened() {
        if (attempt == null) {
            throw new IllegalStateException("The store is not open");
        }
        return attempt;
    }
}
