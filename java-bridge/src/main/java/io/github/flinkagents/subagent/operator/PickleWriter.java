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

/** Writes pickle protocol 3, as far as plain data needs it. The methods are the stack machine's instructions. */
final class PickleWriter {
    private static final int PROTOCOL = 3;
    private static final int LONGEST_SHORT_LONG = 255;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    PickleWriter() {
        out.write(0x80);
        out.write(PROTOCOL);
    }

    /** Ends the pickle and returns it. */
    byte[] toByteArray() {
        out.write('.');
        return out.toByteArray();
    }

    void none() {
        out.write('N');
    }

    void bool(boolean value) {
        out.write(value ? 0x88 : 0x89);
    }

    void integer(long value) {
        if (value == (int) value) {
            out.write('J');
            out.writeBytes(littleEndian((int) value));
        } else {
            integer(BigInteger.valueOf(value));
        }
    }

    void integer(BigInteger value) {
        byte[] bigEndian = value.toByteArray();
        if (bigEndian.length <= LONGEST_SHORT_LONG) {
            out.write(0x8a);
            out.write(bigEndian.length);
        } else {
            out.write(0x8b);
            out.writeBytes(littleEndian(bigEndian.length));
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
        block('X', utf8(value));
    }

    void bytes(byte[] value) {
        block('B', value);
    }

    void list(Runnable items) {
        out.write(']');
        out.write('(');
        items.run();
        out.write('e');
    }

    void tuple(Runnable items) {
        out.write('(');
        items.run();
        out.write('t');
    }

    void dict(Runnable namesAndValues) {
        out.write('}');
        out.write('(');
        namesAndValues.run();
        out.write('u');
    }

    /** Calls a function of a module with arguments. */
    void call(String module, String function, Runnable arguments) {
        out.write('c');
        out.writeBytes((module + "\n" + function + "\n").getBytes(StandardCharsets.US_ASCII));
        tuple(arguments);
        out.write('R');
    }

    private void block(char instruction, byte[] content) {
        out.write(instruction);
        out.writeBytes(littleEndian(content.length));
        out.writeBytes(content);
    }

    private static byte[] littleEndian(int value) {
        return ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array();
    }

    /** UTF-8 in which half a surrogate pair is written as any other char; Python reads pickles so, Java would write a {@code ?}. */
    private static byte[] utf8(String value) {
        if (value.chars().noneMatch(unit -> Character.isSurrogate((char) unit))) {
            return value.getBytes(StandardCharsets.UTF_8);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        value.codePoints().forEach(point -> {
            if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
                bytes.write(0xe0 | point >> 12);
                bytes.write(0x80 | point >> 6 & 0x3f);
                bytes.write(0x80 | point & 0x3f);
            } else {
                bytes.writeBytes(Character.toString(point).getBytes(StandardCharsets.UTF_8));
            }
        });
        return bytes.toByteArray();
    }
}
