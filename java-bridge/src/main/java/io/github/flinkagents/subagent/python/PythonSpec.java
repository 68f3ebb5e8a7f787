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
package io.github.flinkagents.subagent.python;

import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.cache.DistributedCache;
import org.apache.flink.configuration.ReadableConfig;

/**
 * What decides which Python an operator embeds.
 *
 * @param config configuration of TaskManager and job, with what PyFlink was told of files, archives and requirements
 * @param cache where Flink has put the files that the job ships
 * @param jobId the job
 * @param temporaryDirectories where shipped files may be unpacked
 * @param executable the configured interpreter, or null for {@code python} of the TaskManager's path
 * @param planVersion the minor version of the Python that submitted the job
 */
public record PythonSpec(
        ReadableConfig config,
        DistributedCache cache,
        JobID jobId,
        String[] temporaryDirectories,
        String executable,
        String planVersion) {}
