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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What a restored checkpoint says about the topic, and whether it is still the same topic. */
final class KafkaRestore {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaRestore.class);

    private final StoreSettings settings;
    private final StoreOpening opening;
    private final KafkaTopic topic;

    KafkaRestore(StoreSettings settings, StoreOpening opening, KafkaTopic topic) {
        this.settings = settings;
        this.opening = opening;
        this.topic = topic;
    }

    /** Returns the positions of the key groups; nothing on a fresh start, or when the loss of the tail is accepted. */
    Map<Integer, KafkaPosition> positions() throws StoreException {
        if (!opening.restored().isRestore()) {
            return Map.of();
        }
        if (!opening.restored().storeId().equals(topic.storeId())) {
            return lost("the checkpoint was taken with the store "
                    + opening.restored().storeId() + ", the topic is " + topic.storeId()
                    + ": another one, or made again since");
        }
        Map<Integer, KafkaPosition> positions =
                decoded(opening.keyGroups(), opening.restored().positions());
        int partitions = positions.values().iterator().next().partitions();
        if (partitions != topic.partitions()) {
            return lost("the topic had " + partitions + " partitions at the checkpoint and has " + topic.partitions()
                    + " now, so its key groups have moved");
        }
        return positions;
    }

    private Map<Integer, KafkaPosition> lost(String reason) throws StoreException {
        String what = "Operator " + opening.operatorUid() + " cannot find the records of its checkpoint in the topic '"
                + topic.name() + "': " + reason;
        if (!settings.allowLostTail()) {
            throw new StoreException(
                    ErrorCode.STORE_LOST,
                    what + ". Check store.kafka.bootstrap-servers and store.kafka.topic, or set"
                            + " store.allow-lost-tail: true, which repeats the calls since the checkpoint");
        }
        LOG.warn("{}. Calls since the checkpoint are repeated (store.allow-lost-tail)", what);
        return Map.of();
    }

    static Map<Integer, KafkaPosition> decoded(KeyGroups keyGroups, Map<Integer, StorePosition> positions)
            throws StoreException {
        Map<Integer, KafkaPosition> decoded = new TreeMap<>();
        for (int keyGroup : keyGroups.stream().toArray()) {
            decoded.put(keyGroup, KafkaPosition.decode(positions.get(keyGroup)));
        }
        return decoded;
    }

    /** The origin that the attempt continues: its own submission on a fresh start. */
    static String origin(StoreOpening opening, Map<Integer, KafkaPosition> positions) throws StoreException {
        Set<String> origins =
                positions.values().stream().map(KafkaPosition::origin).collect(Collectors.toSet());
        if (origins.size() > 1) {
            throw new StoreException(
                    ErrorCode.STORE,
                    "The restored state of operator " + opening.operatorUid()
                            + " mixes store positions of the submissions " + origins
                            + ". Restore from one checkpoint or savepoint as it was written");
        }
        return origins.isEmpty() ? opening.submissionId() : origins.iterator().next();
    }
}
