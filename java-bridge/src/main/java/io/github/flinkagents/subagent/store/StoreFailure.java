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

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Locale;

/** Puts a failure of the file system into words: the thing, the reason, the remedy. */
final class StoreFailure {
    private StoreFailure() {}

    static StoreException of(IOException cause, String attempt, Path path) {
        return new StoreException(
                ErrorCode.STORE_UNAVAILABLE,
                "The embedded store cannot " + attempt + " " + named(cause, path) + ": " + explained(cause)
                        + " Nothing is held as recorded that is not; a restart of the job continues from its last checkpoint.",
                cause);
    }

    private static String named(IOException cause, Path path) {
        return cause instanceof FileSystemException e
                        && e.getFile() != null
                        && !e.getFile().equals(path.toString())
                ? path + " (" + e.getFile() + ")"
                : path.toString();
    }

    private static String explained(IOException cause) {
        String reason = reason(cause);
        String lower = reason.toLowerCase(Locale.ROOT);
        if (lower.contains("no space left") || lower.contains("quota exceeded")) {
            return "the disk or quota is full (" + reason
                    + "). Free space there, or take more checkpoints so that the store deletes earlier.";
        }
        if (lower.contains("read-only file system")) {
            return "the file system is mounted read-only. Mount it writable, or set store.embedded.dir to a folder that is.";
        }
        if (cause instanceof AccessDeniedException
                || lower.contains("permission denied")
                || lower.contains("operation not permitted")) {
            return "user '" + System.getProperty("user.name")
                    + "' of the TaskManager lacks the right. Give it read, write and execute rights on store.embedded.dir"
                    + " and everything below it.";
        }
        return other(cause, lower, reason);
    }

    private static String other(IOException cause, String lower, String reason) {
        if (cause instanceof NotDirectoryException
                || cause instanceof java.nio.file.FileAlreadyExistsException
                || lower.contains("not a directory")) {
            return "a file stands where a folder is needed (" + reason + "). Move it away, or set store.embedded.dir to"
                    + " another folder.";
        }
        if (cause instanceof NoSuchFileException) {
            return "it was deleted meanwhile. Unless an earlier attempt of the job has just released it, keep clean-up jobs"
                    + " away from store.embedded.dir.";
        }
        if (cause instanceof ClosedByInterruptException) {
            return "the task was cancelled meanwhile.";
        }
        return reason + ". Check the disk or mount below store.embedded.dir.";
    }

    private static String reason(IOException cause) {
        if (cause instanceof FileSystemException e && e.getReason() != null) {
            return e.getReason();
        }
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }
}
