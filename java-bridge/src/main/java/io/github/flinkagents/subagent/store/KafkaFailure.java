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
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.NotEnoughReplicasAfterAppendException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.WakeupException;

import java.util.StringJoiner;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Puts a failure of the Kafka client into words: the thing, the reason, the remedy. */
final class KafkaFailure {
    private static final String AFTERMATH =
            " Nothing is held as recorded that is not; a restart of the job continues from its last checkpoint.";

    private KafkaFailure() {}

    /**
     * Translates a failure.
     *
     * @param cause what the client says
     * @param attempt what was tried, with its object, as in "create the topic 'x'"
     * @param settings of the store
     */
    static StoreException of(Throwable cause, String attempt, KafkaSettings settings) {
        Throwable reason = unwrapped(cause);
        return new StoreException(
                code(reason),
                "The Kafka store at " + settings.bootstrapServers() + " could not " + attempt + ": "
                        + explained(reason, settings) + AFTERMATH,
                cause);
    }

    /** Returns what a future of the client failed with. */
    static Throwable unwrapped(Throwable failure) {
        boolean isWrapper = failure instanceof ExecutionException || failure instanceof CompletionException;
        return isWrapper && failure.getCause() != null ? failure.getCause() : failure;
    }

    private static ErrorCode code(Throwable reason) {
        if (reason instanceof RecordTooLargeException) {
            return ErrorCode.RECORD_TOO_LARGE;
        }
        boolean isSetUp = reason instanceof AuthorizationException
                || reason instanceof AuthenticationException
                || reason instanceof PolicyViolationException
                || reason instanceof ConfigException
                || reason.getCause() instanceof ConfigException
                || reason instanceof InvalidReplicationFactorException;
        return isSetUp ? ErrorCode.STORE : ErrorCode.STORE_UNAVAILABLE;
    }

    /** The messages of the failure and its causes: that of a client that could not be made says nothing by itself. */
    private static String told(Throwable reason) {
        StringJoiner told = new StringJoiner(": ");
        String last = "";
        for (Throwable at = reason; at != null; at = at.getCause()) {
            String message = at.getMessage() == null ? at.getClass().getSimpleName() : at.getMessage();
            if (!last.contains(message)) {
                told.add(message);
                last = message;
            }
        }
        return told.toString();
    }

    private static String explained(Throwable reason, KafkaSettings settings) {
        String message = told(reason);
        String full = message.endsWith(".") ? message : message + ".";
        if (reason instanceof AuthorizationException || reason instanceof AuthenticationException) {
            return full + rights(reason);
        }
        return full
                + (reason instanceof InterruptException || reason instanceof WakeupException
                        ? " The task was cancelled meanwhile."
                        : remedy(reason, settings));
    }

    private static String rights(Throwable reason) {
        return reason instanceof AuthenticationException
                ? " Check the credentials in " + KafkaSettings.PROPERTIES + "*."
                : " The job's user needs the rights Describe, DescribeConfigs, Read, Write and Delete on the topic, and"
                        + " Create on it unless it is there already.";
    }

    private static String remedy(Throwable reason, KafkaSettings settings) {
        if (reason instanceof RecordTooLargeException) {
            return " Raise max.message.bytes of the topic to at least " + settings.maxMessageBytes()
                    + ", or lower journal.max-record-bytes.";
        }
        if (reason instanceof NotEnoughReplicasException || reason instanceof NotEnoughReplicasAfterAppendException) {
            return " Fewer replicas are in sync than min.insync.replicas of the topic asks for: bring the missing brokers back.";
        }
        if (reason instanceof UnknownTopicOrPartitionException) {
            return " The topic was deleted. Restore with store.allow-lost-tail: true, which repeats the calls since the"
                    + " checkpoint.";
        }
        if (reason instanceof InvalidReplicationFactorException) {
            return " Set store.kafka.replication-factor to at most the number of brokers.";
        }
        return reason instanceof TimeoutException
                ? " Check that the brokers run and that store.kafka.bootstrap-servers names them."
                : "";
    }
}
