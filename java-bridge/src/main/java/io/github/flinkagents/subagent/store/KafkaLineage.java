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

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;

/**
 * The namespace of records (S1.6) together with the fresh start that their state descends from (E5.1): a job started afresh
 * under the same identifier numbers its runs from 1 again, so its records never mix with those of another start.
 *
 * @param jobIdentifier names the job
 * @param operatorUid names the operator
 * @param origin the submission that was started afresh, from which the state descends through any number of restores
 */
record KafkaLineage(String jobIdentifier, String operatorUid, String origin) {
    static final int DIGEST_BYTES = 16;

    boolean isSameOperator(KafkaLineage other) {
        return jobIdentifier.equals(other.jobIdentifier) && operatorUid.equals(other.operatorUid);
    }

    /** What stands for the lineage in each record: 128 bits of a digest of the three parts, each with its length. */
    byte[] digest() {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            for (String part : List.of(jobIdentifier, operatorUid, origin)) {
                byte[] utf8 = part.getBytes(StandardCharsets.UTF_8);
                sha.update(
                        ByteBuffer.allocate(Integer.BYTES).putInt(utf8.length).array());
                sha.update(utf8);
            }
            return Arrays.copyOf(sha.digest(), DIGEST_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java runtime has SHA-256", e);
        }
    }
}
