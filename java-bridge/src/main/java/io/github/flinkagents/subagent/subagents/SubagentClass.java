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

import io.github.flinkagents.subagent.api.AsyncSubagent;
import io.github.flinkagents.subagent.api.DeferredSubagent;
import io.github.flinkagents.subagent.api.Subagent;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Modifier;
import java.util.stream.Stream;

/** Finds the class of a sub-agent and makes an instance; each thing that may be wrong has its remedy in the message. */
final class SubagentClass {
    private static final String API = Subagent.class.getPackageName();

    private SubagentClass() {}

    /** Makes an instance by the public constructor without arguments. */
    static Subagent instantiate(String name, ClassLoader loader) throws OpenFailure {
        Class<?> found = load(name, loader);
        check(found);
        try {
            Constructor<?> constructor = found.getConstructor();
            return (Subagent) constructor.newInstance();
        } catch (NoSuchMethodException | IllegalAccessException missing) {
            throw new OpenFailure(
                    "the class " + name + " has no public constructor without arguments, or is not public itself;"
                            + " take what differs between resources from the args of open()",
                    missing);
        } catch (InvocationTargetException failed) {
            Throwable cause = failed.getCause();
            throw new OpenFailure("the constructor of " + name + " failed: " + cause, cause);
        } catch (InstantiationException isAbstract) {
            throw new OpenFailure("the class " + name + " is abstract; name one that can be made", isAbstract);
        } catch (LinkageError broken) {
            throw incomplete(name, broken);
        }
    }

    private static Class<?> load(String name, ClassLoader loader) throws OpenFailure {
        try {
            return Class.forName(name, true, loader);
        } catch (ClassNotFoundException missing) {
            throw new OpenFailure(
                    "the class " + name + " is in no jar of the job. Add the jar that holds it"
                            + " (env.add_jars(\"file:///…\"), or the option pipeline.jars), and write the name as Class.getName()"
                            + " gives it: with its package, a class inside another after a $",
                    missing);
        } catch (LinkageError broken) {
            throw incomplete(name, broken);
        }
    }

    private static OpenFailure incomplete(String name, LinkageError broken) {
        return new OpenFailure(
                "the class " + name + " cannot be loaded: " + broken + ". Put the libraries that it needs into its jar,"
                        + " or add theirs to the job",
                broken);
    }

    private static void check(Class<?> found) throws OpenFailure {
        boolean isDeferred = DeferredSubagent.class.isAssignableFrom(found);
        boolean isAsync = AsyncSubagent.class.isAssignableFrom(found);
        String name = found.getName();
        if (isDeferred && isAsync) {
            throw new OpenFailure(
                    "the class " + name + " is a DeferredSubagent and an AsyncSubagent; make it one of them", null);
        }
        if (!isDeferred && !isAsync) {
            throw new OpenFailure(
                    hasOtherCopy(found)
                            ? "the jar of the class " + name + " brings a copy of " + API + " of its own; give the"
                                    + " dependency on flink-agents-subagent the scope `provided`"
                            : "the class " + name + " is no sub-agent; implement DeferredSubagent or AsyncSubagent of "
                                    + API,
                    null);
        }
        if (Modifier.isAbstract(found.getModifiers())) {
            throw new OpenFailure("the class " + name + " is abstract; name one that can be made", null);
        }
    }

    private static boolean hasOtherCopy(Class<?> found) {
        return ancestors(found).anyMatch(type -> type.getPackageName().equals(API));
    }

    private static Stream<Class<?>> ancestors(Class<?> type) {
        Stream<Class<?>> above =
                Stream.concat(Stream.of(type.getInterfaces()), Stream.ofNullable(type.getSuperclass()));
        return Stream.concat(Stream.of(type), above.flatMap(SubagentClass::ancestors));
    }
}
