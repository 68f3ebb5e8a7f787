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

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The store in files of a local or shared folder; the default. Format and protocol:
 * {@code docs/decisions/0004-embedded-store.md}.
 */
public final class EmbeddedActionStateStore implements ActionStateStore {
    private final StoreSettings settings;
    private final SegmentWriter.Setup setup;
    private @Nullable EmbeddedAttempt attempt;

    /** Makes a store of these settings; nothing is touched before {@link #open}. */
    public EmbeddedActionStateStore(StoreSettings settings) {
        this(settings, SegmentWriter.Setup.DEFAULT);
    }

    EmbeddedActionStateStore(StoreSettings settings, SegmentWriter.Setup setup) {
        this.settings = settings;
        this.setup = setup;
    }

    @Override
    public StoreTail open(StoreOpening opening) throws StoreException {
        if (attempt != null) {
            throw new IllegalStateException("The store is open already");
        }
        try {
            EmbeddedAttempt.Opened opened = EmbeddedAttempt.open(settings, opening, setup);
            attempt = opened.attempt();
            return opened.tail();
        } catch (IOException e) {
            throw StoreFailure.of(e, "open", settings.embeddedDir());
        }
    }

    @Override
    public CompletableFuture<Void> append(List<JournalRecord> batch) {
        return opened().append(batch);
    }

    @Override
    public Map<Integer, StorePosition> positions(long checkpointId) {
        return opened().positions();
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

    private EmbeddedAttempt opened() {
        if (attempt == null) {
            throw new IllegalStateException("The store is not open");
        }
        return attempt;
    }
}
