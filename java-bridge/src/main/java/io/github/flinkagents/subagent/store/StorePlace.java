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
import io.github.flinkagents.subagent.protocol.SafeName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Where one operator's records are, and the id that tells this store from another one in the same place.
 *
 * @param folder holds the id, the fences and the logs
 * @param storeId random, made with the folder
 * @param isOfCheckpoint whether it is the store of the checkpoint; true on a fresh start
 */
record StorePlace(Path folder, String storeId, boolean isOfCheckpoint) {
    private static final Logger LOG = LoggerFactory.getLogger(StorePlace.class);
    private static final String ID_FILE = "STORE-ID";

    /**
     * Finds the place, or makes it on a fresh start.
     *
     * @throws StoreException {@code STORE_LOST} when it is not the store of the checkpoint
     */
    static StorePlace find(StoreSettings settings, StoreOpening opening) throws IOException, StoreException {
        Path folder = settings.embeddedDir()
                .resolve(SafeName.encode(opening.jobIdentifier()))
                .resolve(SafeName.encode(opening.operatorUid()));
        Optional<String> found = readId(folder);
        StoreOpening.Restored restored = opening.restored();
        boolean isOfCheckpoint = !restored.isRestore()
                || found.filter(restored.storeId()::equals).isPresent();
        if (!isOfCheckpoint) {
            tolerateLoss(settings, restored.storeId(), folder, found);
        }
        return new StorePlace(folder, found.isPresent() ? found.get() : create(folder), isOfCheckpoint);
    }

    private static void tolerateLoss(StoreSettings settings, String wanted, Path folder, Optional<String> found)
            throws StoreException {
        String difference = "The checkpoint was taken with the action-state store " + wanted + ", but " + folder
                + found.map(id -> " holds the store " + id).orElse(" holds none");
        if (!settings.allowLostTail()) {
            throw new StoreException(
                    ErrorCode.STORE_LOST,
                    difference
                            + ". The TaskManager may run on another machine, or the folder was deleted or another store"
                            + " configured meanwhile. Make the old folder available under store.embedded.dir ("
                            + settings.embeddedDir() + "), for several machines on a shared file system; or set"
                            + " store.allow-lost-tail: true, which repeats the calls recorded after the checkpoint");
        }
        LOG.warn("{}; calls recorded after the checkpoint are repeated (store.allow-lost-tail: true)", difference);
    }

    /** Makes the folder appear together with its id; of several attempts the first one's id counts. */
    private static String create(Path folder) throws IOException, StoreException {
        Path parent = folder.getParent();
        DurableFiles.createFolders(parent);
        String id = UUID.randomUUID().toString();
        Path draft = parent.resolve("." + id + ".tmp");
        Files.createDirectory(draft);
        DurableFiles.createNew(draft.resolve(ID_FILE), StampedText.encode(List.of("store " + id)));
        try {
            Files.move(draft, folder, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            DurableFiles.deleteFolder(draft);
            return idOfFaster(folder, e);
        }
        DurableFiles.syncFolder(parent);
        return id;
    }

    private static String idOfFaster(Path folder, IOException moveFailure) throws IOException, StoreException {
        Optional<String> id = readId(folder);
        if (id.isEmpty() && Files.isDirectory(folder)) {
            throw new StoreException(
                    ErrorCode.STORE_CORRUPT,
                    "The folder " + folder + " holds files but no " + ID_FILE
                            + ", so it is no embedded store, or a damaged"
                            + " one. Bring the file back from a backup, or move the folder away",
                    moveFailure);
        }
        return id.orElseThrow(() -> moveFailure);
    }

    private static Optional<String> readId(Path folder) throws IOException, StoreException {
        Path file = folder.resolve(ID_FILE);
        byte[] content;
        try {
            content = Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        Optional<List<String>> lines = StampedText.decode(content);
        if (lines.isEmpty() || !lines.get().get(0).startsWith("store ")) {
            throw new StoreException(
                    ErrorCode.STORE_CORRUPT,
                    "The file " + file
                            + " does not hold the id of an embedded store. Bring it back from a backup, or move"
                            + " its folder away and restore with store.allow-lost-tail: true");
        }
        return Optional.of(lines.get().get(0).substring("store ".length()));
    }
}
