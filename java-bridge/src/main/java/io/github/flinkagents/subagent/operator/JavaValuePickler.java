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

import io.github.flinkagents.subagent.protocol.OnAnyThread;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;

import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Date;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Set;

/**
 * Writes the values of a typed Java stream as pickle, for the embedded Python to read: numbers, texts, bytes, dates and
 * times (to the microsecond), decimals, lists and arrays, maps, tuples, and rows with their field names.
 */
@OnAnyThread
public final class JavaValuePickler {
    private static final long NANOS_PER_MICRO = 1_000;
    private static final long SECONDS_PER_DAY = 86_400;

    private final PickleWriter out = new PickleWriter();

    private JavaValuePickler() {}

    /**
     * Returns the pickle of a value.
     *
     * @throws IllegalArgumentException for a type that has no Python counterpart; names it
     */
    public static byte[] pickle(@Nullable Object value) {
        JavaValuePickler pickler = new JavaValuePickler();
        pickler.write(value);
        return pickler.out.toByteArray();
    }

    private void write(@Nullable Object value) {
        if (value == null) {
            out.none();
        } else if (!writeScalar(value) && !writeTime(value) && !writeContainer(value)) {
            throw new IllegalArgumentException(
                    "A stream element holds a " + value.getClass().getName()
                            + ", which has no Python counterpart. Map the stream to rows, numbers, texts or bytes before it"
                            + " reaches the agent.");
        }
    }

    private boolean writeScalar(Object value) {
        if (value instanceof CharSequence || value instanceof Character) {
            out.text(value.toString());
        } else if (value instanceof Boolean flag) {
            out.bool(flag);
        } else if (value instanceof byte[] bytes) {
            out.bytes(bytes);
        } else {
            return writeNumber(value);
        }
        return true;
    }

    private boolean writeNumber(Object value) {
        if (value instanceof Float || value instanceof Double) {
            out.real(((Number) value).doubleValue());
        } else if (value instanceof BigDecimal decimal) {
            out.call("decimal", "Decimal", () -> out.text(decimal.toString()));
        } else if (value instanceof BigInteger integer) {
            out.integer(integer);
        } else if (value instanceof Number number && KeySource.isInteger(value)) {
            out.integer(number.longValue());
        } else {
            return false;
        }
        return true;
    }

    private boolean writeTime(Object value) {
        if (value instanceof LocalDate date) {
            out.call("datetime", "date", () -> writeDate(date));
        } else if (value instanceof LocalTime time) {
            out.call("datetime", "time", () -> writeClock(time));
        } else if (value instanceof LocalDateTime dateTime) {
            writeDateTime(dateTime, false);
        } else if (value instanceof java.util.Date old) {
            return writeSqlTime(old);
        } else if (value instanceof Instant instant) {
            writeDateTime(LocalDateTime.ofInstant(instant, ZoneOffset.UTC), true);
        } else if (value instanceof Duration duration) {
            writeDuration(duration);
        } else {
            return false;
        }
        return true;
    }

    private boolean writeSqlTime(java.util.Date value) {
        if (value instanceof Timestamp timestamp) {
            return writeTime(timestamp.toLocalDateTime());
        }
        if (value instanceof Date date) {
            return writeTime(date.toLocalDate());
        }
        return value instanceof Time time && writeTime(time.toLocalTime());
    }

    private void writeDate(LocalDate date) {
        out.integer(date.getYear());
        out.integer(date.getMonthValue());
        out.integer(date.getDayOfMonth());
    }

    private void writeClock(LocalTime time) {
        out.integer(time.getHour());
        out.integer(time.getMinute());
        out.integer(time.getSecond());
        out.integer(time.getNano() / NANOS_PER_MICRO);
    }

    private void writeDateTime(LocalDateTime dateTime, boolean isUtc) {
        out.call("datetime", "datetime", () -> {
            writeDate(dateTime.toLocalDate());
            writeClock(dateTime.toLocalTime());
            if (isUtc) {
                out.call("datetime", "timezone", () -> writeDuration(Duration.ZERO));
            }
        });
    }

    private void writeDuration(Duration duration) {
        out.call("datetime", "timedelta", () -> {
            out.integer(Math.floorDiv(duration.getSeconds(), SECONDS_PER_DAY));
            out.integer(Math.floorMod(duration.getSeconds(), SECONDS_PER_DAY));
            out.integer(duration.getNano() / NANOS_PER_MICRO);
        });
    }

    private boolean writeContainer(Object value) {
        if (value instanceof Row row) {
            writeRow(row);
        } else if (value instanceof Tuple tuple) {
            out.tuple(() -> {
                for (int i = 0; i < tuple.getArity(); i++) {
                    write(tuple.getField(i));
                }
            });
        } else if (value instanceof Map<?, ?> map) {
            out.dict(() -> map.forEach((name, member) -> {
                write(name);
                write(member);
            }));
        } else if (value instanceof Iterable<?> items) {
            out.list(() -> items.forEach(this::write));
        } else if (value.getClass().isArray()) {
            out.list(() -> {
                for (int i = 0; i < Array.getLength(value); i++) {
                    write(Array.get(value, i));
                }
            });
        } else {
            return false;
        }
        return true;
    }

    private void writeRow(Row row) {
        @Nullable Set<String> names = row.getFieldNames(true);
        // The name under which PyFlink itself pickles a row; the reader makes a record of it.
        out.call("pyflink.common.types", "_create_row", () -> {
            if (names == null) {
                out.none();
            } else {
                out.tuple(() -> names.forEach(out::text));
            }
            out.tuple(() -> writeValues(row, names));
        });
    }

    private void writeValues(Row row, @Nullable Set<String> names) {
        if (names != null) {
            names.forEach(name -> write(row.getField(name)));
            return;
        }
        for (int i = 0; i < row.getArity(); i++) {
            write(row.getField(i));
        }
    }
}
