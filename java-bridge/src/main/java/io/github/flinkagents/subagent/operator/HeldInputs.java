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
package io.github.flinkagents.subagent.operator;

import io.github.flinkagents.subagent.protocol.OnMailboxThread;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.jspecify.annotations.Nullable;

import java.util.TreeMap;

/**
 * Counts the inputs whose runs have not ended, and holds watermarks and idleness back until every input before them has
 * ended its run (E1.5, E1.6).
 *
 * <p>Inputs between two marks form an epoch; it is found by the ticket of its first input. A finished epoch between
 * unfinished ones gives its mark to the one before, so there are never more epochs than held inputs and one more.
 */
@OnMailboxThread
final class HeldInputs {
    private final TreeMap<Long, Epoch> epochs = new TreeMap<>();
    private final Downstream downstream;
    private Epoch newest;
    private long lastTicket;
    private long held;

    HeldInputs(Downstream downstream) {
        this.downstream = downstream;
        newest = newEpoch(0);
    }

    /** Notes inputs of restored entries; they finish with ticket 0. Before the first arrival only. */
    void restored(long inputs) {
        epochs.firstEntry().getValue().open += inputs;
        held += inputs;
    }

    /** Notes an input and returns its ticket, from 1. */
    long arrived() {
        newest.open++;
        held++;
        lastTicket++;
        return lastTicket;
    }

    /** Notes that the run of an input has ended. */
    void finished(long ticket) throws Exception {
        // Mostly the newest: while no watermark comes, or inputs are done with at once.
        Epoch epoch =
                ticket >= newest.first ? newest : epochs.floorEntry(ticket).getValue();
        if (epoch.open == 0) {
            throw new IllegalStateException("The engine has finished input " + ticket + " twice");
        }
        epoch.open--;
        held--;
        if (epoch.open == 0 && epoch != newest) {
            release(epoch);
        }
    }

    /** Forwards a watermark, or holds it back. */
    void watermark(Watermark watermark) throws Exception {
        if (held == 0) {
            downstream.watermark(watermark);
        } else {
            closing().watermark = watermark;
        }
    }

    /** Forwards idleness or activity, or holds it back: behind it a held watermark would be ignored. */
    void status(WatermarkStatus status) throws Exception {
        if (held == 0) {
            downstream.status(status);
        } else {
            closing().status = status;
        }
    }

    /** How many inputs are active or queued. */
    long count() {
        return held;
    }

    /** Returns the epoch that a mark which arrives now closes, and begins another one. */
    private Epoch closing() {
        if (newest.first <= lastTicket) {
            newest = newEpoch(lastTicket + 1);
        }
        return epochs.lowerEntry(newest.first).getValue();
    }

    private Epoch newEpoch(long first) {
        Epoch epoch = new Epoch(first);
        epochs.put(first, epoch);
        return epoch;
    }

    private void release(Epoch epoch) throws Exception {
        var before = epochs.lowerEntry(epoch.first);
        if (before != null) {
            epochs.remove(epoch.first);
            before.getValue().takeMarks(epoch);
            return;
        }
        Epoch oldest = epoch;
        while (oldest.open == 0 && oldest != newest) {
            epochs.remove(oldest.first);
            oldest.forward(downstream);
            oldest = epochs.firstEntry().getValue();
        }
    }

    /** Where marks go. */
    interface Downstream {
        void watermark(Watermark watermark) throws Exception;

        void status(WatermarkStatus status) throws Exception;
    }

    /** Inputs between two marks, and the latest marks behind them. */
    private static final class Epoch {
        private final long first;
        private long open;
        private @Nullable Watermark watermark;
        private @Nullable WatermarkStatus status;

        private Epoch(long first) {
            this.first = first;
        }

        private void takeMarks(Epoch later) {
            watermark = later.watermark != null ? later.watermark : watermark;
            status = later.status != null ? later.status : status;
        }

        private void forward(Downstream downstream) throws Exception {
            // A watermark is ignored while idle: activity goes before it, idleness behind it.
            boolean isIdle = status != null && status.isIdle();
            if (status != null && !isIdle) {
                downstream.status(status);
            }
            if (watermark != null) {
                downstream.watermark(watermark);
            }
            if (status != null && isIdle) {
                downstream.status(status);
            }
        }
    }
}
