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

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.annotation.JsonFormat;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JavaType;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.SerializationFeature;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.json.JsonMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.type.TypeFactory;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.util.LRUMap;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.util.LookupCache;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.Collection;
import java.util.Map;

/**
 * Turns records and beans into maps of their components. What comes out is checked by {@link Normalization} like any other
 * value, so that nothing slips through that JSON cannot express.
 *
 * <p>One for each operator instance: it remembers the classes that it has seen, and with them their job's class loader.
 */
final class Rendering {
    private static final int REMEMBERED_TYPES = 100;

    /** The library's own lives as long as the process. */
    private final LookupCache<Object, JavaType> types = new LRUMap<>(16, REMEMBERED_TYPES);

    private final ObjectMapper mapper = JsonMapper.builder()
            .typeFactory(TypeFactory.defaultInstance().withCache(types))
            .addModules(new Jdk8Module(), new JavaTimeModule())
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS, SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            // As a number it would become a double on the other side, and amounts of money change.
            .withConfigOverride(
                    BigDecimal.class, config -> config.setFormat(JsonFormat.Value.forShape(JsonFormat.Shape.STRING)))
            .build();

    /**
     * Returns the value with its records and beans as maps.
     *
     * @param isTyped whether they are rendered anywhere; otherwise only the value itself is
     * @param root how messages name the value
     */
    @Nullable
    Object render(@Nullable Object value, boolean isTyped, String root) throws NotExpressibleException {
        if (value == null || !isTyped && !isRecordOrBean(value)) {
            return value;
        }
        try {
            return mapper.convertValue(value, Object.class);
        } catch (IllegalArgumentException refused) {
            throw new NotExpressibleException(root + " cannot be rendered as JSON: " + firstLine(refused));
        } catch (StackOverflowError cyclic) {
            throw new NotExpressibleException(root + " contains itself");
        }
    }

    private static boolean isRecordOrBean(Object value) {
        Class<?> type = value.getClass();
        return !(value instanceof Map<?, ?>
                || value instanceof Collection<?>
                || value instanceof Enum<?>
                || type.isArray()
                || type.getName().startsWith("java."));
    }

    private static String firstLine(Exception refused) {
        return String.valueOf(refused.getMessage()).lines().findFirst().orElse("");
    }
}
