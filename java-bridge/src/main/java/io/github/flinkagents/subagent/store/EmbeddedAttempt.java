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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * One attempt's hold on the embedded store.
 *
 * <p>Opening, in this order: create the fence; begin the own log; take the end of every earlier log and publish the ends as
 * the cut; read; look whether a later attempt did the same meanwhile. A record of an earlier writer lies inside the cut and
 * is read, or its writer sees the fence before it acknowledges the record.
 */
final class EmbeddedAttempt {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedAttempt.class);

    private final StoreOpening opening;
    private final Fence fence;
    private final GroupCommit commit;
    private final Release release;
    private long end;

    private EmbeddedAttempt(StoreOpening opening, Fence fence, GroupCommit commit, Release release) {
        this.opening = opening;
        this.fence = fence;
        this.commit = commit;
        this.release = release;
    }

    /**
     * What {@link #open} gives.
     *
     * @param attempt the hold, for as long as the task lives
     * @param tail what was read, to be forgotten once replayed
     */
    record Opened(EmbeddedAttempt attempt, StoreTail tail) {}

    static Opened open(StoreSettings settings, StoreOpening opening, SegmentWriter.Setup setup)
            throws IOException, StoreException {
        StorePlace place = StorePlace.find(settings, opening);
        Map<Integer, EmbeddedPosition> positions = place.isOfCheckpoint() ? positions(opening) : Map.of();
        FenceDirectory fences = new FenceDirectory(place.folder());
        String writerId = UUID.randomUUID().toString().replace("-", "");
        Fence fence = fences.claim(writerId, opening.submissionId(), origin(opening, positions), opening.keyGroups());
        SegmentWriter log = SegmentWriter.create(fences.writerFolder(fence.number()), writerId, setup);
        try {
            publishCut(fences, fence);
            StoreTail tail = place.isOfCheckpoint()
                    ? new TailReader(fences, new TailPlan(fence, positions), settings).read(place.storeId())
                    : new StoreTail(place.storeId(), List.of(), 0);
            FenceWatch watch = new FenceWatch(fences, fence);
            watch.check();
            LOG.info(
                    "Operator {} opened the embedded store {} in {} as attempt {} for key groups {}; {} records to replay",
                    opening.operatorUid(),
                    place.storeId(),
                    place.folder(),
                    fence.number(),
                    fence.keyGroups(),
                    tail.records().size());
            GroupCommit commit = new GroupCommit(log, watch, place.folder(), "action-state-store-" + fence.number());
            commit.start();
            return new Opened(new EmbeddedAttempt(opening, fence, commit, new Release(fences, fence, log)), tail);
        } catch (IOException | StoreException | RuntimeException e) {
            log.closeAfter(e);
            throw e;
        }
    }

    CompletableFuture<Void> append(List<JournalRecord> batch) {
        batch.forEach(record -> opening.requireOwn(record.keyGroup()));
        end += batch.stream().mapToLong(FrameCodec::length).sum();
        return commit.submit(batch);
    }

    Map<Integer, StorePosition> positions() {
        StorePosition position = new EmbeddedPosition(fence.number(), end, fence.origin()).encode();
        return opening.keyGroups().stream()
                .boxed()
                .collect(Collectors.toMap(keyGroup -> keyGroup, keyGroup -> position));
    }

    void release(Map<Integer, StorePosition> oldestRetained) {
        commit.submit(() -> {
            Map<Integer, EmbeddedPosition> decoded = new HashMap<>();
            for (int keyGroup : opening.keyGroups().stream().toArray()) {
                decoded.put(keyGroup, EmbeddedPosition.decode(oldestRetained.get(keyGroup)));
            }
            release.run(decoded);
        });
    }

    void close() {
        commit.close();
    }

    private static Map<Integer, EmbeddedPosition> positions(StoreOpening opening) throws StoreException {
        Map<Integer, EmbeddedPosition> positions = new TreeMap<>();
        if (opening.restored().isRestore()) {
            for (int keyGroup : opening.keyGroups().stream().toArray()) {
                positions.put(
                        keyGroup,
                        EmbeddedPosition.decode(opening.restored().positions().get(keyGroup)));
            }
        }
        return positions;
    }

    private static String origin(StoreOpening opening, Map<Integer, EmbeddedPosition> positions) throws StoreException {
        Set<String> origins =
                positions.values().stream().map(EmbeddedPosition::origin).collect(Collectors.toSet());
        if (origins.size() > 1) {
            throw new StoreException(
                    ErrorCode.STORE,
                    "The restored state of operator " + opening.operatorUid()
                            + " mixes store positions of the submissions " + origins
                            + ". Restore from one checkpoint or savepoint as it was written");
        }
        return origins.isEmpty() ? opening.submissionId() : origins.iterator().next();
    }

    private static void publishCut(FenceDirectory fences, Fence own) throws IOException, StoreException {
        FenceView view = fences.view();
        Map<Long, Long> ends = new HashMap<>();
        for (long number : view.cuts().keySet()) {
            if (number < own.number() && view.fences().get(number).keyGroups().overlaps(own.keyGroups())) {
                ends.put(number, SegmentFile.durableEnd(fences.writerFolder(number)));
            }
        }
        fences.publishCut(own.number(), ends);
    }
}
