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

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Makes the values that the vectors of normalization describe. */
final class Samples {
    private Samples() {}

    /** A constant. */
    enum Tier {
        STANDARD,
        GOLD
    }

    /** A record that is no part of a typed value. */
    record Point(int x, int y) {}

    /** A record in a record. */
    record Part(String name, int pieces) {}

    /** A record. */
    record Offer(
            @Nullable String item,
            BigDecimal amount,
            @Nullable Object weight,
            LocalDate day,
            Tier tier,
            List<Part> parts,
            @Nullable Object extra) {}

    /** How an object of the vectors is made of its fields: a record or a bean. */
    interface Kind {
        Object make(Offer offer);
    }

    static @Nullable Object make(JsonNode given, Kind kind) {
        if (given.isArray()) {
            return items(given, kind);
        }
        if (!given.isObject()) {
            return scalar(given);
        }
        String tag = given.isEmpty() ? "" : given.fieldNames().next();
        return tag.startsWith("$") ? tagged(tag, given, kind) : members(given, kind);
    }

    private static @Nullable Object scalar(JsonNode given) {
        if (given.isNull()) {
            return null;
        }
        if (given.isTextual()) {
            return given.asText();
        }
        return given.isBoolean() ? (Object) given.asBoolean() : given.numberValue();
    }

    private static List<@Nullable Object> items(JsonNode given, Kind kind) {
        List<@Nullable Object> items = new ArrayList<>();
        given.forEach(item -> items.add(make(item, kind)));
        return items;
    }

    private static Map<String, @Nullable Object> members(JsonNode given, Kind kind) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        given.properties().forEach(member -> members.put(member.getKey(), make(member.getValue(), kind)));
        return members;
    }

    private static @Nullable Object tagged(String tag, JsonNode given, Kind kind) {
        JsonNode body = given.get(tag);
        return switch (tag) {
            case "$float" -> Double.valueOf(body.asText());
            case "$int" -> new BigInteger(body.asText());
            case "$power" -> power(given);
            case "$point" -> new Point(body.get(0).asInt(), body.get(1).asInt());
            case "$tier" -> Tier.valueOf(body.asText());
            case "$bytes" -> HexFormat.of().parseHex(body.asText());
            case "$decimal" -> new BigDecimal(body.asText());
            case "$date" -> LocalDate.parse(body.asText());
            case "$set" -> Set.copyOf(items(body, kind));
            case "$array" -> items(body, kind).toArray();
            case "$map" -> map(body, kind);
            case "$nested" -> nested(body.asInt());
            case "$cycle" -> cycle(body.asText());
            case "$twice" -> twice(make(body, kind));
            case "$offer" -> kind.make(offer(body, kind));
            default -> throw new IllegalArgumentException("Unknown tag " + tag);
        };
    }

    private static BigInteger power(JsonNode given) {
        BigInteger value = BigInteger.TWO
                .pow(given.get("$power").asInt())
                .add(BigInteger.valueOf(given.get("$plus").asInt()));
        return given.has("$negative") ? value.negate() : value;
    }

    private static Map<@Nullable Object, @Nullable Object> map(JsonNode pairs, Kind kind) {
        Map<@Nullable Object, @Nullable Object> map = new LinkedHashMap<>();
        pairs.forEach(pair -> map.put(make(pair.get(0), kind), make(pair.get(1), kind)));
        return map;
    }

    private static List<Object> nested(int levels) {
        List<Object> value = new ArrayList<>();
        for (int level = 1; level < levels; level++) {
            List<Object> outer = new ArrayList<>();
            outer.add(value);
            value = outer;
        }
        return value;
    }

    private static Object cycle(String kind) {
        if ("map".equals(kind)) {
            Map<String, Object> members = new LinkedHashMap<>();
            members.put("self", members);
            return members;
        }
        List<Object> items = new ArrayList<>();
        items.add(items);
        return items;
    }

    private static List<@Nullable Object> twice(@Nullable Object value) {
        List<@Nullable Object> items = new ArrayList<>();
        items.add(value);
        items.add(value);
        return items;
    }

    private static Offer offer(JsonNode fields, Kind kind) {
        List<Part> parts = new ArrayList<>();
        fields.get("parts")
                .forEach(part ->
                        parts.add(new Part(part.get(0).asText(), part.get(1).asInt())));
        return new Offer(
                fields.get("item").isNull() ? null : fields.get("item").asText(),
                new BigDecimal(fields.get("amount").asText()),
                make(fields.get("weight"), kind),
                LocalDate.parse(fields.get("day").asText()),
                Tier.valueOf(fields.get("tier").asText()),
                parts,
                make(fields.get("extra"), kind));
    }
}
