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
package io.github.flinkagents.subagent.architecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.core.domain.JavaModifier.ABSTRACT;
import static com.tngtech.archunit.core.domain.JavaModifier.FINAL;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

/** Which package may know which, and what a package shows [P4, P6]. */
@AnalyzeClasses(packages = "io.github.flinkagents.subagent", importOptions = ImportOption.DoNotIncludeTests.class)
class PackageRulesTest {
    private static final DescribedPredicate<JavaClass> CONCRETE = DescribedPredicate.describe(
            "are concrete top-level classes",
            type -> !type.isInterface()
                    && !type.isEnum()
                    && !type.getModifiers().contains(ABSTRACT)
                    && type.isTopLevelClass());

    /** The operator uses the store and Python; these and the source know the protocol only, and not each other. */
    @ArchTest
    private final ArchRule layers = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .withOptionalLayers(true)
            .layer("operator")
            .definedBy("..subagent.operator..")
            .layer("source")
            .definedBy("..subagent.source..")
            .layer("store")
            .definedBy("..subagent.store..")
            .layer("python")
            .definedBy("..subagent.python..")
            .layer("subagents")
            .definedBy("..subagent.subagents..")
            .layer("eventlog")
            .definedBy("..subagent.eventlog..")
            .layer("api")
            .definedBy("..subagent.api..")
            .layer("protocol")
            .definedBy("..subagent.protocol..")
            .whereLayer("operator")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("source")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("store")
            .mayOnlyBeAccessedByLayers("operator")
            .whereLayer("python")
            .mayOnlyBeAccessedByLayers("operator")
            .whereLayer("subagents")
            .mayOnlyBeAccessedByLayers("operator")
            .whereLayer("eventlog")
            .mayOnlyBeAccessedByLayers("operator")
            .whereLayer("api")
            .mayOnlyBeAccessedByLayers("subagents")
            .whereLayer("protocol")
            .mayOnlyBeAccessedByLayers("operator", "source", "store", "python", "subagents", "eventlog");

    /** What sub-agents are written against needs the Java platform alone: no Flink, no Python, none of our own inside [B1]. */
    @ArchTest
    private final ArchRule api = classes()
            .that()
            .resideInAPackage("..subagent.api..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("java..", "..subagent.api..");

    /** Java sub-agents are run without Flink's runtime, and shown to the operator by one class. */
    @ArchTest
    private final ArchRule subagentsWithoutRuntime = noClasses()
            .that()
            .resideInAPackage("..subagent.subagents..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.apache.flink.streaming..", "org.apache.flink.runtime..", "org.apache.flink.api..");

    @ArchTest
    private final ArchRule subagentsParts = classes()
            .that()
            .resideInAPackage("..subagent.subagents..")
            .and()
            .areTopLevelClasses()
            .and()
            .arePublic()
            .should()
            .haveSimpleName("JavaSubagents");

    /** The event log knows nothing of Flink, and is one class to the operator. */
    @ArchTest
    private final ArchRule eventLogWithoutFlink = noClasses()
            .that()
            .resideInAPackage("..subagent.eventlog..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.apache.flink..");

    @ArchTest
    private final ArchRule eventLogParts = classes()
            .that()
            .resideInAPackage("..subagent.eventlog..")
            .and()
            .areTopLevelClasses()
            .and()
            .arePublic()
            .should()
            .haveSimpleName("EventLog");

    /** Only one package embeds Python. */
    @ArchTest
    private final ArchRule pemja = noClasses()
            .that()
            .resideOutsideOfPackage("..subagent.python..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("pemja..");

    /** Only one package talks to Kafka. */
    @ArchTest
    private final ArchRule kafka = noClasses()
            .that()
            .resideOutsideOfPackage("..subagent.store..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.apache.kafka..");

    /** The store knows Flink's name for key groups through the protocol, and nothing else of Flink. */
    @ArchTest
    private final ArchRule storeWithoutFlink = noClasses()
            .that()
            .resideInAPackage("..subagent.store..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.apache.flink..");

    /** Classes are made to be used, not extended. */
    @ArchTest
    private final ArchRule finalClasses = classes().that(CONCRETE).should().haveModifier(FINAL);

    /** The store shows its port, its values and its stores; how they work is its own business. */
    @ArchTest
    private final ArchRule storeParts = classes()
            .that()
            .resideInAPackage("..subagent.store..")
            .and()
            .areTopLevelClasses()
            .and()
            .arePublic()
            .should()
            .haveNameMatching(".*\\.(.*ActionStateStore|Store[A-Z]\\w+|JournalRecord|OnCorrupt|RetainedCheckpoints)");
}
