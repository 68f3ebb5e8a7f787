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
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

import java.util.stream.IntStream;

/**
 * The topic as an attempt found it.
 *
 * @param name its name
 * @param id new for each creation, so that a topic that was deleted and made again is another one
 * @param partitions how many there are
 * @param maxParallelism of the operator; key groups are numbered below it
 */
record KafkaTopic(String name, Uuid id, int partitions, int maxParallelism) {
    /** Identifies the store in checkpoints. */
    String storeId() {
        return "kafka:" + id;
    }

    /** The partition of a key group (S2.2). */
    int partitionOf(int keyGroup) {
        return (int) ((long) keyGroup * partitions / maxParallelism);
    }

    /** The partitions of key groups, ascending. */
    int[] partitionsOf(KeyGroups keyGroups) {
        return keyGroups.stream().map(this::partitionOf).distinct().toArray();
    }

    /** The first key group of a partition. */
    int firstKeyGroupOf(int partition) {
        return IntStream.range(0, maxParallelism)
                .filter(keyGroup -> partitionOf(keyGroup) == partition)
                .findFirst()
                .orElseThrow();
    }

    TopicPartition at(int partition) {
        return new TopicPartition(name, partition);
    }

    /** Refuses a fence that was set when the topic had another number of partitions: key groups have moved since. */
    void requireSamePartitions(KafkaFence fence) throws StoreException {
        if (fence.partitions() != partitions) {
            throw new StoreException(
                    ErrorCode.STORE,
                    "The topic '" + name + "' has " + partitions + " partitions; attempt " + fence.writerId()
                            + " of the same operator wrote to it when it had " + fence.partitions()
                            + ". Partitions must not be added to a topic in use: give the job another topic"
                            + " (store.kafka.topic) and restore with store.allow-lost-tail: true, which repeats the calls"
                            + " since the checkpoint");
        }
    }
}
