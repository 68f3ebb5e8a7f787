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

import io.github.flinkagents.subagent.protocol.KeyGroups;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One attempt's claim on key groups, as it stands in each of their partitions. From there on in a partition's log its key
 * groups are the writer's, until the next fence.
 *
 * @param lineage whose history the attempt continues
 * @param writerId random, new for each attempt
 * @param submissionId the submission of the attempt
 * @param keyGroups what is claimed
 * @param partitions how many partitions the topic had for the writer
 */
record KafkaFence(KafkaLineage lineage, UUID writerId, String submissionId, KeyGroups keyGroups, int partitions) {
    private static final String TITLE = "flink-agents-subagent fence 1";
    private static final Pattern FORM = Pattern.compile(
            TITLE + "\njob (\\S*)\noperator (\\S*)\nwriter ([0-9a-f-]{36})\nsubmission (\\S*)\norigin (\\S*)"
                    + "\nkey-groups (\\d{1,5})-(\\d{1,5})\npartitions (\\d{1,9})");

    /** Whether the fence claims one of these key groups of the same job and operator. */
    boolean claims(KafkaLineage other, KeyGroups groups) {
        return lineage.isSameOperator(other) && keyGroups.overlaps(groups);
    }

    byte[] encode() {
        return StampedText.encode(List.of(
                TITLE,
                "job " + quoted(lineage.jobIdentifier()),
                "operator " + quoted(lineage.operatorUid()),
                "writer " + writerId,
                "submission " + quoted(submissionId),
                "origin " + quoted(lineage.origin()),
                "key-groups " + keyGroups,
                "partitions " + partitions));
    }

    /** Returns the fence of a record's value; nothing when it is none of this format, or damaged. */
    static Optional<KafkaFence> decode(byte[] value) {
        return StampedText.decode(value)
                .map(lines -> FORM.matcher(String.join("\n", lines)))
                .filter(Matcher::matches)
                .map(match -> new KafkaFence(
                        new KafkaLineage(text(match.group(1)), text(match.group(2)), text(match.group(5))),
                        UUID.fromString(match.group(3)),
                        text(match.group(4)),
                        new KeyGroups(Integer.parseInt(match.group(6)), Integer.parseInt(match.group(7))),
                        Integer.parseInt(match.group(8))));
    }

    private static String quoted(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String text(String quoted) {
        return URLDecoder.decode(quoted, StandardCharsets.UTF_8);
    }
}
