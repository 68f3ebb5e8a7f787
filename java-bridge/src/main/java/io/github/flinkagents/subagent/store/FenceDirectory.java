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

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The fence, cut and floor files of one operator's folder.
 *
 * <p>Invariants: fences are numbered without holes, since a fence file is never removed while an older one stands, and the
 * highest never at all. A writer may therefore look for newer fences by trying the next number, as long as its own
 * fence stands. Fences and cuts never change once they can be read, so they are read once.
 *
 * <p>Thread: one at a time.
 */
final class FenceDirectory {
    private static final String FENCE = "fence-";
    private static final String CUT = "cut-";
    private static final String FLOOR = "floor-";

    private final Path folder;
    private final Map<Long, Fence> readFences = new HashMap<>();
    private final Map<Long, Map<Long, Long>> readCuts = new HashMap<>();

    FenceDirectory(Path folder) {
        this.folder = folder;
    }

    Path folder() {
        return folder;
    }

    Path writerFolder(long number) {
        return folder.resolve("writer-" + number);
    }

    /** Creates the next fence; it is durable on return. */
    Fence claim(String writerId, String submissionId, String origin, KeyGroups keyGroups) throws IOException {
        while (true) {
            Numbers taken = list();
            long number = taken.fences.isEmpty() ? 1 : taken.fences.last() + 1;
            Fence fence = new Fence(number, writerId, submissionId, origin, keyGroups);
            try {
                DurableFiles.createNew(file(FENCE, number), fence.encode());
                return fence;
            } catch (FileAlreadyExistsException e) {
                continue; // Another attempt was faster: take the number behind it.
            }
        }
    }

    /** Reads what is there now. */
    FenceView view() throws IOException, StoreException {
        Numbers listed = list();
        TreeMap<Long, Fence> fences = new TreeMap<>();
        Map<Long, Map<Long, Long>> cuts = new HashMap<>();
        Set<Long> unreadable = new TreeSet<>();
        for (long number : listed.fences) {
            Optional<Fence> fence = read(number);
            if (fence.isPresent()) {
                fences.put(number, fence.get());
                readCut(number).ifPresent(cut -> cuts.put(number, cut));
            } else if (listed.cuts.contains(number) && exists(number)) {
                throw corrupt(file(FENCE, number));
            } else {
                unreadable.add(number);
            }
        }
        readFences.keySet().retainAll(fences.keySet());
        readCuts.keySet().retainAll(fences.keySet());
        return new FenceView(fences, cuts, listed.floors, unreadable);
    }

    /** Whether a fence file stands; a look-up that fails is an error, not an absence. */
    boolean exists(long number) throws IOException {
        return DurableFiles.exists(file(FENCE, number));
    }

    /** Whether the operator's folder stands. */
    boolean exists() throws IOException {
        return DurableFiles.exists(folder);
    }

    /** Returns a fence, or nothing while it is being written or when it is not there. */
    Optional<Fence> read(long number) throws IOException {
        Fence known = readFences.get(number);
        if (known == null) {
            known = content(file(FENCE, number))
                    .flatMap(bytes -> Fence.decode(number, bytes))
                    .orElse(null);
        }
        if (known != null) {
            readFences.put(number, known);
        }
        return Optional.ofNullable(known);
    }

    void publishCut(long number, Map<Long, Long> ends) throws IOException {
        List<String> lines = new TreeMap<>(ends)
                .entrySet().stream()
                        .map(end -> end.getKey() + " " + end.getValue())
                        .toList();
        DurableFiles.publish(file(CUT, number), StampedText.encode(lines));
    }

    void publishFloor(long number) throws IOException {
        DurableFiles.publish(file(FLOOR, number), new byte[0]);
    }

    /** Removes the files of a fence; the fence itself last, so that an interrupted removal is taken up again. */
    void remove(long number) throws IOException {
        Files.deleteIfExists(file(FLOOR, number));
        Files.deleteIfExists(file(CUT, number));
        Files.deleteIfExists(file(FENCE, number));
    }

    private Optional<Map<Long, Long>> readCut(long number) throws IOException, StoreException {
        if (!readCuts.containsKey(number)) {
            Optional<byte[]> content = content(file(CUT, number));
            if (content.isEmpty()) {
                return Optional.empty();
            }
            readCuts.put(number, decodeCut(file(CUT, number), content.get()));
        }
        return Optional.of(readCuts.get(number));
    }

    private static Map<Long, Long> decodeCut(Path file, byte[] content) throws StoreException {
        List<String> lines = StampedText.decode(content).orElseThrow(() -> corrupt(file));
        Map<Long, Long> ends = new HashMap<>();
        for (String line : lines) {
            int space = line.indexOf(' ');
            if (space > 0) {
                ends.put(Long.parseLong(line.substring(0, space)), Long.parseLong(line.substring(space + 1)));
            }
        }
        return Map.copyOf(ends);
    }

    private static StoreException corrupt(Path file) {
        return new StoreException(
                ErrorCode.STORE_CORRUPT,
                "The file " + file
                        + " of the embedded store was changed or damaged after it was written. Without it the"
                        + " store cannot tell which records count. Bring it back from a backup; or move its folder away and"
                        + " restore with store.allow-lost-tail: true, which repeats the calls since the checkpoint");
    }

    private static Optional<byte[]> content(Path file) throws IOException {
        try {
            return Optional.of(Files.readAllBytes(file));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    private Path file(String kind, long number) {
        return folder.resolve(kind + number);
    }

    private Numbers list() throws IOException {
        Numbers numbers = new Numbers(new TreeSet<>(), new HashSet<>(), new HashSet<>());
        for (String name : DurableFiles.names(folder)) {
            numbers.add(name);
        }
        return numbers;
    }

    /** The numbers in the names of a folder; names of other forms are not ours. */
    private record Numbers(TreeSet<Long> fences, Set<Long> cuts, Set<Long> floors) {
        void add(String name) {
            int dash = name.indexOf('-');
            if (dash < 0 || !name.substring(dash + 1).matches("[1-9]\\d{0,17}")) {
                return;
            }
            long number = Long.parseLong(name.substring(dash + 1));
            switch (name.substring(0, dash + 1)) {
                case FENCE -> fences.add(number);
                case CUT -> cuts.add(number);
                case FLOOR -> floors.add(number);
                default -> {
                    // A writer's folder; looked up by number where it is needed.
                }
            }
        }
    }
}
