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

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.concurrent.atomic.AtomicReference;

/**
 * The first failure of an operator instance, from whatever thread. A Java exception loses its identity on its way
 * through Python, and a worker thread has nobody to throw to: both leave it here, and the mailbox thread throws it.
 */
public final class TaskFailure {
    private static final Logger LOG = LoggerFactory.getLogger(TaskFailure.class);

    private final AtomicReference<Throwable> first = new AtomicReference<>();

    /** Keeps the failure if it is the first; a later one is logged. Any thread. */
    public void set(Throwable failure) {
        if (!first.compareAndSet(null, failure) && first.get() != failure) {
            LOG.debug("A failure after the first one.", failure);
        }
    }

    /** Keeps a failure that the Python side reports as JSON. Any thread. */
    public void setPython(byte[] json) {
        set(PythonFailure.fromJson(json));
    }

    /** Tells whether there is a failure. */
    public boolean isSet() {
        return first.get() != null;
    }

    /** Throws the failure, if there is one. */
    public void rethrow() throws Exception {
        Throwable failure = first.get();
        if (failure instanceof Exception exception) {
            throw exception;
        }
        if (failure instanceof Error error) {
            throw error;
        }
    }
}
