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

/**
 * What a source of the user's needs from us: reading Kafka messages with their keys. It knows the connector and its client by
 * name only, since either may be there under another package (the connector for SQL brings the client along, relocated).
 */
@NullMarked
package io.github.flinkagents.subagent.source;

import org.jspecify.annotations.NullMarked;
