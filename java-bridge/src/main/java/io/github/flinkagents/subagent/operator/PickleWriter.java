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

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Writes Python's pickle format, protocol 3: the few instructions that data needs.
 *
 * <p>A pickle is a program for a stack machine. What takes arguments is written as the function, then a mark and the arguments
 * (any of these methods), then {@link #call}.
 *
 * <p>Thread: one.
 */
final class PickleWriter {
    private static final int LARGEST_SHORT_INTEGER = 255;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    PickleWriter() {
        out.write(0x80);
        out.write(3);
    }

    void none() {
        out.write('N');
    }

    void flag(boolean value) {
        out.write(value ? 0x88 : 0x89);
    }

    void integer(BigInteger value) {
        if (value.bitLength() < Integer.SIZE) {
            out.write('J');
            littleEndian(value.intValue());
            return;
        }
        byte[] bigEndian = value.toByteArray();
        if (bigEndian.length <= LARGEST_SHORT_INTEGER) {
            out.write(0x8a);
            out.write(bigEndian.length);
        } else {
            out.write(0x8b);
            littleEndian(bigEndian.length);
        }
        for (int i = bigEndian.length - 1; i >= 0; i--) {
            out.write(bigEndian[i]);
        }
    }

    void real(double value) {
        out.write('G');
        out.writeBytes(ByteBuffer.allocate(Double.BYTES).putDouble(value).array());
    }

    void text(String value) {
        out.write('X');
        sized(value.getBytes(StandardCharsets.UTF_8));
    }

    void bytes(byte[] value) {
        out.write('B');
        sized(value);
    }

    void beginList() {
        out.write(']');
        mark();
    }

    void endList() {
        out.write('e');
    }

    void beginDict() {
        out.write('}');
        mark();
    }

    void endDict() {
        out.write('u');
    }

    void mark() {
        out.write('(');
    }

    /** Makes a tuple of everything since the last mark. */
    void tuple() {
        out.write('t');
    }

    /** Begins a call of a function of a module; the arguments follow. */
    void function(String module, String name) {
        out.write('c');
        out.writeBytes((module + '\n' + name + '\n').getBytes(StandardCharsets.US_ASCII));
        mark();
    }

    /** Ends the call that the last open {@link #function} began. */
    void call() {
        tuple();
        out.write('R');
    }

    byte[] finish() {
        out.write('.');
        return out.toByteArray();
    }

    private void sized(byte[] value) {
        littleEndian(value.length);
        out.writeBytes(value);
    }

    private void littleEndian(int value) {
        out.writeBytes(ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array());
    }
}
