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

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * Names the topic of one job and operator: {@code <prefix>.<job identifier>.<operator uid>}. A part that a topic's name cannot
 * hold as it is has every other character replaced and ends in a digest, so that different jobs have different topics.
 */
final class KafkaTopicName {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_-]{1,90}");
    private static final int KEPT_LENGTH = 48;
    private static final int DIGEST_DIGITS = 24;

    private KafkaTopicName() {}

    static String of(String prefix, String jobIdentifier, String operatorUid) {
        return prefix + "." + part(jobIdentifier) + "." + part(operatorUid);
    }

    private static String part(String text) {
        if (PLAIN.matcher(text).matches()) {
            return text;
        }
        String kept = text.substring(0, Math.min(KEPT_LENGTH, text.length())).replaceAll("[^A-Za-z0-9_-]", "-");
        return kept + "-" + sha256(text).substring(0, DIGEST_DIGITS);
    }

    private static String sha256(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java runtime has SHA-256", e);
        }
    }
}
