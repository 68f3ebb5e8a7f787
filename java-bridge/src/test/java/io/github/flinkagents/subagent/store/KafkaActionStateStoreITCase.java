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

import java.util.Map;

/** The Kafka store: the contract, against a real broker [S1.1, S1.2, S1.3, S1.5, S1.6, S1.7, S1.8, S2.2]. */
class KafkaActionStateStoreITCase extends ActionStateStoreContract {
    private final Map<String, Object> options =
            KafkaTesting.options(TestBroker.shared().address());

    @Override
    ActionStateStore newStore() {
        return KafkaTesting.store(options);
    }
}
