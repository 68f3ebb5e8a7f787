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
package io.github.flinkagents.subagent.eventlog;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Queue;

/** Lines between the mailbox thread and the writing thread: bounded in bytes; what does not fit is lost and counted. */
final class LineQueue {
    private final long maxBytes;
    private final Queue<Block> blocks = new ArrayDeque<>();
    private long bytes;
    private long lost;
    private boolean isClosed;

    LineQueue(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** Takes lines if there is room, never waits; returns how many lines were lost since the last time. */
    synchronized long offer(Block block) {
        if (isClosed || bytes + block.lines().length > maxBytes) {
            lost += block.count();
        } else {
            bytes += block.lines().length;
            blocks.add(block);
            notifyAll();
        }
        long since = lost;
        lost = 0;
        return since;
    }

    /** Returns the oldest lines, waits for some; null when the queue is closed and empty. */
    synchronized @Nullable Block take() throws InterruptedException {
        while (blocks.isEmpty() && !isClosed) {
            wait();
        }
        return blocks.poll();
    }

    /** Counts lines that were taken as done with: they make room now. */
    synchronized void written(Block block) {
        bytes -= block.lines().length;
    }

    /** Counts lines that were taken and could not be written as lost. */
    synchronized void failed(Block block) {
        written(block);
        lost += block.count();
    }

    /** Takes no more lines. */
    synchronized void close() {
        isClosed = true;
        notifyAll();
    }

    /** Whole lines, and how many. */
    record Block(byte[] lines, long count) {}
}
