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

import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Which checkpoint's positions may be released up to [S1.8]. */
class RetainedCheckpointsTest {
    private static final Map<Integer, StorePosition> NONE = Map.of();

    /** With two to be retained, the completion of a checkpoint releases up to the one before [S1.8]. */
    @Test
    void completion_releasesUpToTheOldestRetained() {
        RetainedCheckpoints retained = new RetainedCheckpoints(2, NONE);
        retained.snapshotTaken(1, at(10));
        retained.snapshotTaken(2, at(20));
        retained.snapshotTaken(3, at(30));

        assertThat(retained.checkpointCompleted(1)).isEmpty();
        assertThat(retained.checkpointCompleted(2)).hasValue(at(10));
        assertThat(retained.checkpointCompleted(3)).hasValue(at(20));
    }

    /** A snapshot whose checkpoint is not complete releases nothing [S1.8]. */
    @Test
    void incompleteCheckpoint_doesNotCount() {
        RetainedCheckpoints retained = new RetainedCheckpoints(1, NONE);
        retained.snapshotTaken(1, at(10));
        retained.snapshotTaken(2, at(20));
        retained.checkpointAborted(1);
        retained.snapshotTaken(3, at(30));

        assertThat(retained.checkpointCompleted(3)).hasValue(at(30));
        assertThat(retained.checkpointCompleted(1)).isEmpty();
        assertThat(retained.checkpointCompleted(2)).isEmpty();
    }

    /** The restored checkpoint is one of the retained [S1.8]. */
    @Test
    void restoredCheckpoint_isRetained() {
        RetainedCheckpoints retained = new RetainedCheckpoints(2, at(5));
        retained.snapshotTaken(8, at(10));
        retained.snapshotTaken(9, at(20));

        assertThat(retained.checkpointCompleted(8)).hasValue(at(5));
        assertThat(retained.checkpointCompleted(9)).hasValue(at(10));
    }

    /** A savepoint, which is not noted, releases nothing and counts for nothing [S1.8]. */
    @Test
    void unknownCheckpoint_isIgnored() {
        RetainedCheckpoints retained = new RetainedCheckpoints(2, NONE);
        retained.snapshotTaken(1, at(10));
        retained.checkpointCompleted(1);

        assertThat(retained.checkpointCompleted(2)).isEmpty();

        retained.snapshotTaken(3, at(30));
        assertThat(retained.checkpointCompleted(3)).hasValue(at(10));
    }

    /** Retaining none is refused, naming the option [S1.8]. */
    @Test
    void retainingNone_isRefused() {
        assertThatThrownBy(() -> new RetainedCheckpoints(0, NONE))
                .hasMessageContaining("store.retained-checkpoints is 0");
    }

    private static Map<Integer, StorePosition> at(int place) {
        return Map.of(0, StorePosition.of(new byte[] {(byte) place}));
    }
}
