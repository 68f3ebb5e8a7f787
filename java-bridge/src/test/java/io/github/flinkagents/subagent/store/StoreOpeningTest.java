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

import io.github.flinkagents.subagent.protocol.ErrorCode;
import io.github.flinkagents.subagent.protocol.KeyGroups;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

import static io.github.flinkagents.subagent.store.StoreAttempt.ALL;
import static io.github.flinkagents.subagent.store.StoreAttempt.opening;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Restored positions that cannot be right. */
class StoreOpeningTest {
    @TempDir
    private Path folder;

    /** A restore needs a position for each of its key groups; the missing one is named [E4.3]. */
    @Test
    void missingPosition_isNamed() {
        StoreOpening.Restored restored = new StoreOpening.Restored(
                "id",
                Map.of(0, new EmbeddedPosition(1, 0, "sub").encode(), 2, new EmbeddedPosition(1, 0, "sub").encode()));

        assertThatThrownBy(() -> opening("sub", new KeyGroups(0, 2), restored))
                .hasMessageContaining("key group 1")
                .hasMessageContaining("agent-x");
    }

    /** A checkpoint without any position is no fresh start [E4.3, E5.1]. */
    @Test
    void checkpointWithoutPositions_isNoFreshStart() {
        assertThatThrownBy(() -> opening("sub", ALL, new StoreOpening.Restored("id", Map.of())))
                .hasMessageContaining("key group 0");
    }

    /** Positions of different histories, which no one checkpoint holds, are refused [E4.3, E5.1]. */
    @Test
    void positionsOfTwoHistories_areRefused() throws StoreException {
        StoreOpening.Restored checkpoint;
        try (StoreAttempt attempt = StoreAttempt.open(store(), opening("sub", ALL, StoreOpening.Restored.NONE))) {
            checkpoint = attempt.checkpoint();
        }
        Map<Integer, StorePosition> mixed = new HashMap<>(checkpoint.positions());
        mixed.put(7, new EmbeddedPosition(1, 0, "sub-2").encode());

        StoreException failure = catchThrowableOfType(
                StoreException.class,
                () -> store().open(opening("sub", ALL, new StoreOpening.Restored(checkpoint.storeId(), mixed))));

        assertThat(failure.code()).isEqualTo(ErrorCode.STORE);
        assertThat(failure).hasMessageContaining("sub-2");
    }

    /** A position of a newer format is refused, naming it [E4.8]. */
    @Test
    void positionOfANewerFormat_isRefused() {
        byte[] position = new EmbeddedPosition(1, 0, "sub").encode().bytes();
        position[0] = 2;

        StoreException failure =
                catchThrowableOfType(StoreException.class, () -> EmbeddedPosition.decode(StorePosition.of(position)));

        assertThat(failure.code()).isEqualTo(ErrorCode.UNKNOWN_VERSION);
        assertThat(failure).hasMessageContaining("02000000");
    }

    private ActionStateStore store() {
        return new EmbeddedActionStateStore(StoreTesting.embedded(folder));
    }
}
