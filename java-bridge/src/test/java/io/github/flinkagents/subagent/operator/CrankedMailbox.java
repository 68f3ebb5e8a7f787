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

import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.util.function.ThrowingRunnable;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;

/** A mailbox that runs its mails when told to. */
final class CrankedMailbox implements MailboxExecutor {
    final Queue<ThrowingRunnable<? extends Exception>> mails = new ArrayDeque<>();
    boolean isClosed;

    void runAll() throws Exception {
        while (!mails.isEmpty()) {
            runOne();
        }
    }

    void runOne() throws Exception {
        mails.remove().run();
    }

    @Override
    public void execute(
            MailOptions options, ThrowingRunnable<? extends Exception> mail, String description, Object... arguments) {
        if (isClosed) {
            throw new RejectedExecutionException();
        }
        mails.add(mail);
    }

    @Override
    public void yield() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean tryYield() {
        return false;
    }

    @Override
    public boolean shouldInterrupt() {
        return false;
    }
}
