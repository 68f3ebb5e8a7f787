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
package io.github.flinkagents.subagent.eventlog;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.charset.StandardCharsets;

/** Gives each line to a logger with a name of its own, so that the logging of the TaskManager may send it anywhere. */
final class LoggerSink implements LineSink {
    static final String NAME = "io.github.flinkagents.subagent.events";

    private static final Logger EVENTS = LoggerFactory.getLogger(NAME);

    @Override
    public void write(byte[] lines) {
        new String(lines, StandardCharsets.US_ASCII).lines().forEach(line -> EVENTS.info("{}", line));
    }

    @Override
    public void close() {}
}
