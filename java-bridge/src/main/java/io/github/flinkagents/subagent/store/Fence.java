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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One attempt's claim on key groups; its number orders it among all attempts.
 *
 * @param number from 1, without holes
 * @param writerId random; 32 hex digits that the attempt's segments carry too
 * @param submissionId the submission of the attempt
 * @param origin the submission whose fresh start this attempt's state descends from, through any number of restores. Tails
 *     never mix origins: a job started afresh under the same identifier numbers its runs from 1 again
 * @param keyGroups what is claimed
 */
record Fence(long number, String writerId, String submissionId, String origin, KeyGroups keyGroups) {
    private static final String TITLE = "flink-agents-subagent fence 1";
    private static final Pattern FORM = Pattern.compile(
            TITLE + "\nwriter ([0-9a-f]{32})\nsubmission (\\S*)\norigin (\\S*)\nkey-groups (\\d{1,5})-(\\d{1,5})");

    byte[] encode() {
        return StampedText.encode(List.of(
                TITLE,
                "writer " + writerId,
                "submission " + quoted(submissionId),
                "origin " + quoted(origin),
                "key-groups " + keyGroups));
    }

    /** Returns the fence that a file holds; nothing when it was written in part or is no fence of this format. */
    static Optional<Fence> decode(long number, byte[] content) {
        return StampedText.decode(content)
                .map(lines -> FORM.matcher(String.join("\n", lines)))
                .filter(Matcher::matches)
                .map(match -> new Fence(
                        number,
                        match.group(1),
                        text(match.group(2)),
                        text(match.group(3)),
                        new KeyGroups(Integer.parseInt(match.group(4)), Integer.parseInt(match.group(5)))));
    }

    private static String quoted(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String text(String quoted) {
        return URLDecoder.decode(quoted, StandardCharsets.UTF_8);
    }
}
