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

import org.apache.flink.util.FlinkUserCodeClassLoaders;
import org.junit.jupiter.api.Test;

import java.net.URL;
import java.net.URLClassLoader;

import static org.assertj.core.api.Assertions.assertThat;

/** The class-loader set-up that embedding needs in a session cluster. */
class ClusterSettingsTest {
    /** A second job's failure to load the library tells the remedy [P1]. */
    @Test
    void explain_reloadOfTheLibrary_tellsTheRemedy() {
        Throwable failed = new RuntimeException(new NoSuchFieldException("loadedLibraryNames"));

        assertThat(ClusterSettings.explain(failed))
                .hasValueSatisfying(explained -> assertThat(explained)
                        .hasMessageContaining("classloader.parent-first-patterns.additional: pemja.")
                        .hasCause(failed));
    }

    /** Two class loaders that both hold pemja tell the remedy too [P1]. */
    @Test
    void explain_linkageError_tellsTheRemedy() {
        assertThat(ClusterSettings.explain(new LinkageError("loader constraint violation")))
                .hasValueSatisfying(explained -> assertThat(explained).hasMessageContaining("`lib` folder"));
    }

    /** Any other failure is left alone [P1]. */
    @Test
    void explain_otherFailure_isNotTouched() {
        Throwable failed = new IllegalStateException("no libpython");

        assertThat(ClusterSettings.explain(failed)).isEmpty();
    }

    /** The loader of a job is told from the one of the process [P1]. */
    @Test
    void isLoadedByJob_tellsJobFromProcess() throws Exception {
        try (URLClassLoader ofJob = FlinkUserCodeClassLoaders.childFirst(
                new URL[0], getClass().getClassLoader(), new String[0], failure -> {}, false)) {
            assertThat(ClusterSettings.isLoadedByJob(ofJob)).isTrue();
            assertThat(ClusterSettings.isLoadedByJob(getClass().getClassLoader()))
                    .isFalse();
        }
    }
}
