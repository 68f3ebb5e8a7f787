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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file on a disk that fails or stalls where a test says so; all else goes to a real file. */
class FaultyChannel extends FileChannel {
    private final FileChannel file;

    FaultyChannel(Path path) throws IOException {
        this.file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    }

    /** Called before the file is forced. */
    void beforeForce() throws IOException {
        // The disk is sound unless a test says otherwise.
    }

    /** Called before bytes are written; may write some of them. */
    void beforeWrite(ByteBuffer source) throws IOException {
        // The disk is sound unless a test says otherwise.
    }

    @Override
    public final int write(ByteBuffer source) throws IOException {
        beforeWrite(source);
        return file.write(source);
    }

    /** Writes to the real file. */
    final int writeThrough(ByteBuffer source) throws IOException {
        return file.write(source);
    }

    @Override
    public final void force(boolean metaData) throws IOException {
        beforeForce();
        file.force(metaData);
    }

    @Override
    protected final void implCloseChannel() throws IOException {
        file.close();
    }

    @Override
    public final long size() throws IOException {
        return file.size();
    }

    @Override
    public final long position() throws IOException {
        return file.position();
    }

    @Override
    public final int read(ByteBuffer target) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final long read(ByteBuffer[] targets, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final long write(ByteBuffer[] sources, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final FileChannel position(long newPosition) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final FileChannel truncate(long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final long transferTo(long position, long count, WritableByteChannel target) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final long transferFrom(ReadableByteChannel source, long position, long count) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final int read(ByteBuffer target, long position) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final int write(ByteBuffer source, long position) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final MappedByteBuffer map(MapMode mode, long position, long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final FileLock lock(long position, long size, boolean shared) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final FileLock tryLock(long position, long size, boolean shared) {
        throw new UnsupportedOperationException();
    }
}
