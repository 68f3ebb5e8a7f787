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

import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Date;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.types.Row;

/**
 * Turns elements of a typed stream into Python values: the pickle of what a Python author expects to see, which is a
 * record for a row, a tuple for a tuple, Python's own types for numbers, texts, bytes, dates and containers.
 *
 * <p>The formats that PyFlink uses for this are those of its own operators and change with it; this one is read by
 * {@code _flink/formats.py} of the same release.
 *
 * <p>Thread: one.
 */
final class JavaValuePickler {
    private static final String FORMATS = "flink_agents_subagent._flink.formats";

    private static final int NANOS_PER_MICRO = 1000;

    /** What Flink's own types hold, by exact class. */
    private static final Map<Class<?>, BiConsumer<PickleWriter, Object>> PLAIN = Map.ofEntries(
            Map.entry(String.class, JavaValuePickler::writeText),
            Map.entry(Character.class, JavaValuePickler::writeText),
            Map.entry(Boolean.class, (out, value) -> out.flag((Boolean) value)),
            Map.entry(Byte.class, JavaValuePickler::writeInteger),
            Map.entry(Short.class, JavaValuePickler::writeInteger),
            Map.entry(Integer.class, JavaValuePickler::writeInteger),
            Map.entry(Long.class, JavaValuePickler::writeInteger),
            Map.entry(BigInteger.class, (out, value) -> out.integer((BigInteger) value)),
            Map.entry(Float.class, JavaValuePickler::writeReal),
            Map.entry(Double.class, JavaValuePickler::writeReal),
            Map.entry(BigDecimal.class, JavaValuePickler::writeDecimal),
            Map.entry(byte[].class, (out, value) -> out.bytes((byte[]) value)),
            Map.entry(LocalDateTime.class, (out, value) -> writeDateTime(out, (LocalDateTime) value)),
            Map.entry(LocalDate.class, (out, value) -> writeDate(out, (LocalDate) value)),
            Map.entry(LocalTime.class, (out, value) -> writeTime(out, (LocalTime) value)),
            Map.entry(Timestamp.class, (out, value) -> writeDateTime(out, ((Timestamp) value).toLocalDateTime())),
            Map.entry(Date.class, (out, value) -> writeDate(out, ((Date) value).toLocalDate())),
            Map.entry(Time.class, (out, value) -> writeTime(out, ((Time) value).toLocalTime())),
            Map.entry(Instant.class, (out, value) -> writeInstant(out, (Instant) value)));

    private final List<String> rowFields;

    /**
     * Makes a pickler.
     *
     * @param rowFields names of the fields of an element that is a row, or null; the row itself may have lost them
     */
    JavaValuePickler(List<String> rowFields) {
        this.rowFields = rowFields;
    }

    /**
     * Returns the pickle of an element.
     *
     * @throws IllegalArgumentException when a part of it has no Python counterpart; names its class
     */
    byte[] pickle(Object element) {
        PickleWriter out = new PickleWriter();
        if (element instanceof Row row && rowFields != null && rowFields.size() == row.getArity()) {
            writeRow(out, rowFields, row);
        } else {
            write(out, element);
        }
        return out.finish();
    }

    private void write(PickleWriter out, Object value) {
        if (value == null) {
            out.none();
            return;
        }
        BiConsumer<PickleWriter, Object> plain = PLAIN.get(value.getClass());
        if (plain != null) {
            plain.accept(out, value);
        } else if (value instanceof Enum<?>) {
            out.text(value.toString());
        } else if (!writeStructure(out, value) && !writeArray(out, value)) {
            throw new IllegalArgumentException("An input holds a " + value.getClass().getName()
                    + ", which has no Python counterpart here; map it to a type of pyflink.common.Types before the agent");
        }
    }

    private boolean writeStructure(PickleWriter out, Object value) {
        if (value instanceof Row row) {
            writeRow(out, row.getFieldNames(true), row);
        } else if (value instanceof Tuple tuple) {
            out.mark();
            for (int i = 0; i < tuple.getArity(); i++) {
                write(out, tuple.getField(i));
            }
            out.tuple();
        } else if (value instanceof Map<?, ?> map) {
            out.beginDict();
            map.forEach((key, item) -> {
                write(out, key);
                write(out, item);
            });
            out.endDict();
        } else if (value instanceof Collection<?> collection) {
            writeList(out, collection);
        } else {
            return false;
        }
        return true;
    }

    private boolean writeArray(PickleWriter out, Object value) {
        if (!value.getClass().isArray()) {
            return false;
        }
        out.beginList();
        for (int i = 0; i < Array.getLength(value); i++) {
            write(out, Array.get(value, i));
        }
        out.endList();
        return true;
    }

    private void writeRow(PickleWriter out, Collection<String> names, Row row) {
        out.function(FORMATS, "_row");
        Set<String> ownNames = row.getFieldNames(false);
        if (names == null) {
            out.none();
        } else {
            writeList(out, names);
        }
        out.beginList();
        if (ownNames == null) {
            for (int i = 0; i < row.getArity(); i++) {
                write(out, row.getField(i));
            }
        } else {
            // A row by name has no positions; the order is that of the names written before it.
            for (String name : names) {
                write(out, row.getField(name));
            }
        }
        out.endList();
        out.call();
    }

    private void writeList(PickleWriter out, Collection<?> items) {
        out.beginList();
        for (Object item : items) {
            write(out, item);
        }
        out.endList();
    }

    private static void writeDecimal(PickleWriter out, Object decimal) {
        out.function("decimal", "Decimal");
        out.text(decimal.toString());
        out.call();
    }

    private static void writeDateTime(PickleWriter out, LocalDateTime value) {
        out.function("datetime", "datetime");
        writeParts(out, value.getYear(), value.getMonthValue(), value.getDayOfMonth());
        writeParts(out, value.getHour(), value.getMinute(), value.getSecond(), value.getNano() / NANOS_PER_MICRO);
        out.call();
    }

    private static void writeDate(PickleWriter out, LocalDate value) {
        out.function("datetime", "date");
        writeParts(out, value.getYear(), value.getMonthValue(), value.getDayOfMonth());
        out.call();
    }

    private static void writeTime(PickleWriter out, LocalTime value) {
        out.function("datetime", "time");
        writeParts(out, value.getHour(), value.getMinute(), value.getSecond(), value.getNano() / NANOS_PER_MICRO);
        out.call();
    }

    private static void writeInstant(PickleWriter out, Instant value) {
        out.function(FORMATS, "_instant");
        out.integer(BigInteger.valueOf(value.getEpochSecond()));
        writeParts(out, value.getNano() / NANOS_PER_MICRO);
        out.call();
    }

    private static void writeParts(PickleWriter out, int... parts) {
        for (int part : parts) {
            out.integer(BigInteger.valueOf(part));
        }
    }

    private static void writeInteger(PickleWriter out, Object value) {
        out.integer(BigInteger.valueOf(((Number) value).longValue()));
    }

    private static void writeReal(PickleWriter out, Object value) {
        out.real(((Number) value).doubleValue());
    }

    private static void writeText(PickleWriter out, Object value) {
        out.text(value.toString());
    }
}
