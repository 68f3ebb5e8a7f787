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

import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.types.Row;

/** Takes the key that the key operator has put into the first field. */
public final class KeyedRowSelector implements KeySelector<Row, String> {
    private static final long serialVersionUID = 1L;

    @Override
    public String getKey(Row row) {
        return (String) row.getField(0);
    }
}
