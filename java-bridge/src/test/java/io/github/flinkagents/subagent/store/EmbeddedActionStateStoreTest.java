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

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

/** The embedded store: the contract, with segments of any size [S3.1]. */
class EmbeddedActionStateStoreTest {
    /** As it is set up by default. */
    @Nested
    class WithOneSegment extends ActionStateStoreContract {
        @TempDir
        private Path folder;

        @Override
        ActionStateStore newStore() {
            return new EmbeddedActionStateStore(StoreTesting.embedded(folder));
        }
    }

    /** Each record in a segment of its own. */
    @Nested
    class WithManySegments extends ActionStateStoreContract {
        @TempDir
        private Path folder;

        @Override
        ActionStateStore newStore() {
            return new EmbeddedActionStateStore(StoreTesting.embedded(folder), StoreTesting.smallSegments(1));
        }
    }
}
