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
package io.github.flinkagents.subagent.subagents;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.Array;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What JSON can express, and where a value is something else (T9). The same rule, paths and messages as in Python's
 * {@code normalization.py}; shared vectors pin them.
 */
final class Normalization {
    static final int MAX_DEPTH = 64;
    static final int MAX_INTEGER_BITS = 4096;

    private static final Set<Class<?>> INTEGERS = Set.of(Long.class, Integer.class, Short.class, Byte.class);
    private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    private final Set<Object> open = Collections.newSetFromMap(new IdentityHashMap<>());

    private Normalization() {}

    /**
     * Returns a copy made of maps, lists and plain values.
     *
     * @param value what is to be expressed
     * @param root how messages name the value itself
     */
    static @Nullable Object normalize(@Nullable Object value, String root) throws NotExpressibleException {
        return new Normalization().visit(value, new Place(null, root));
    }

    private @Nullable Object visit(@Nullable Object value, Place place) throws NotExpressibleException {
        if (isContainer(value)) {
            return container(value, place);
        }
        if (value instanceof Number number) {
            return number(number, place);
        }
        if (value instanceof Character letter) {
            return letter.toString();
        }
        if (value == null || value instanceof String || value instanceof Boolean) {
            return value;
        }
        throw foreign(value, place);
    }

    private Object container(Object value, Place place) throws NotExpressibleException {
        if (!open.add(value)) {
            throw new NotExpressibleException(place + " contains itself");
        }
        if (open.size() > MAX_DEPTH) {
            throw new NotExpressibleException(place + " is nested deeper than " + MAX_DEPTH + " levels");
        }
        Object normal = value instanceof Map<?, ?> map ? map(map, place) : list(value, place);
        open.remove(value);
        return normal;
    }

    private Map<String, @Nullable Object> map(Map<?, ?> map, Place place) throws NotExpressibleException {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        for (Map.Entry<?, ?> member : map.entrySet()) {
            if (!(member.getKey() instanceof String name)) {
                throw new NotExpressibleException(place + " has a key that is no text: " + shownKey(member.getKey()));
            }
            members.put(name, visit(member.getValue(), place.member(name)));
        }
        return members;
    }

    private List<@Nullable Object> list(Object value, Place place) throws NotExpressibleException {
        List<@Nullable Object> items = new ArrayList<>();
        if (value instanceof List<?> list) {
            for (Object item : list) {
                items.add(visit(item, place.item(items.size())));
            }
            return items;
        }
        for (int index = 0; index < Array.getLength(value); index++) {
            items.add(visit(Array.get(value, index), place.item(index)));
        }
        return items;
    }

    private static Number number(Number number, Place place) throws NotExpressibleException {
        if (number instanceof Double || number instanceof Float) {
            if (!Double.isFinite(number.doubleValue())) {
                throw new NotExpressibleException(place + " is " + number + ", which JSON cannot express");
            }
            return number;
        }
        if (number instanceof BigInteger large) {
            if (large.abs().bitLength() > MAX_INTEGER_BITS) {
                throw new NotExpressibleException(
                        place + " is a whole number of more than " + MAX_INTEGER_BITS + " bits");
            }
            return number;
        }
        if (INTEGERS.contains(number.getClass())) {
            return number;
        }
        throw foreign(number, place);
    }

    private static boolean isContainer(@Nullable Object value) {
        return value instanceof Map<?, ?> || value instanceof List<?> || isArray(value);
    }

    private static boolean isArray(@Nullable Object value) {
        // Bytes are no list of numbers to anybody who made them.
        return value != null && value.getClass().isArray() && !(value instanceof byte[]);
    }

    private static NotExpressibleException foreign(Object value, Place place) {
        return new NotExpressibleException(
                place + " is of type " + value.getClass().getSimpleName() + ", which JSON cannot express");
    }

    private static String shownKey(@Nullable Object key) {
        boolean isPlain = key == null || key instanceof Boolean || key instanceof Long || key instanceof Integer;
        return isPlain ? String.valueOf(key) : "of type " + key.getClass().getSimpleName();
    }

    /** A step on the way from the root; becomes text only in a message. */
    private record Place(@Nullable Place parent, String step) {
        Place member(String name) {
            boolean isPlain = PLAIN_NAME.matcher(name).matches();
            return new Place(
                    this,
                    isPlain ? "." + name : "[\"" + name.replace("\\", "\\\\").replace("\"", "\\\"") + "\"]");
        }

        Place item(int index) {
            return new Place(this, "[" + index + "]");
        }

        @Override
        public String toString() {
            StringBuilder path = new StringBuilder();
            for (Place place = this; place != null; place = place.parent) {
                path.insert(0, place.step);
            }
            return path.toString();
        }
    }
}
