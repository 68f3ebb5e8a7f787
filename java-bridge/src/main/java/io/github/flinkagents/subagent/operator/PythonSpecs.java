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

import io.github.flinkagents.subagent.python.PythonSpec;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.tasks.StreamTask;

/** Collects what decides which Python an operator embeds. */
final class PythonSpecs {
    private PythonSpecs() {}

    static PythonSpec of(AbstractStreamOperator<?> operator, Settings settings) {
        StreamTask<?, ?> task = operator.getContainingTask();
        Environment environment = task.getEnvironment();
        Configuration config =
                new Configuration(environment.getTaskManagerInfo().getConfiguration());
        config.addAll(task.getJobConfiguration());
        config.addAll(task.getExecutionConfig().toConfiguration());
        return new PythonSpec(
                config,
                operator.getRuntimeContext().getDistributedCache(),
                environment.getJobID(),
                environment.getTaskManagerInfo().getTmpDirectories(),
                settings.optionalText("python-executable").orElse(null),
                settings.text("python-version"));
    }
}
