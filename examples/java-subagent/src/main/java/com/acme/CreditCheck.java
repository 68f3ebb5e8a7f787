package com.acme;

import io.github.flinkagents.subagent.api.AsyncSubagent;
import io.github.flinkagents.subagent.api.RunStatus;
import io.github.flinkagents.subagent.api.RunStatus.State;
import io.github.flinkagents.subagent.api.SubagentRequest;
import io.github.flinkagents.subagent.api.SubagentResult;

import java.util.Map;

/** Has the credit of a customer checked, which takes the service a while. Args: {@code service}, its address. */
public final class CreditCheck implements AsyncSubagent {
    private Service service;

    @Override
    public void open(Map<String, Object> args) {
        service = new Service((String) args.get("service"));
    }

    @Override
    public Object submit(SubagentRequest request) throws Exception {
        // The service names the check; it comes back as request.run().
        return service.ask("check " + request.prompt(), request.callId());
    }

    @Override
    public RunStatus queryStatus(SubagentRequest request) throws Exception {
        String answer = service.ask("status of " + name(request), request.callId());
        return RunStatus.of(State.valueOf(answer));
    }

    @Override
    public SubagentResult fetchResult(SubagentRequest request) throws Exception {
        String limit = service.ask("limit of " + name(request), request.callId());
        return SubagentResult.ok(Map.of("limit", Integer.parseInt(limit)));
    }

    @Override
    public void cancel(SubagentRequest request) throws Exception {
        service.ask("stop " + name(request), request.callId());
    }

    private static Object name(SubagentRequest request) {
        // The answer of a submit that was lost in a crash: the service knows the check by its key, too.
        return request.run() == null ? request.callId() : request.run();
    }
}
