package com.acme;

import io.github.flinkagents.subagent.api.DeferredSubagent;
import io.github.flinkagents.subagent.api.FailureReason;
import io.github.flinkagents.subagent.api.SubagentRequest;
import io.github.flinkagents.subagent.api.SubagentResult;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Makes offers with the prices of a price service. Args: {@code service}, its address; {@code dearest}, the largest price that
 * may be offered, optional.
 */
public final class Pricer implements DeferredSubagent {
    private Service service;
    private BigDecimal dearest;

    @Override
    public void open(Map<String, Object> args) {
        if (!(args.get("service") instanceof String address)) {
            throw new IllegalArgumentException("args need `service`, the address of the price service");
        }
        service = new Service(address);
        dearest = args.get("dearest") instanceof Number limit ? new BigDecimal(limit.toString()) : null;
    }

    @Override
    public SubagentResult call(SubagentRequest request) throws Exception {
        Map<?, ?> order = (Map<?, ?>) request.prompt();
        String item = (String) order.get("item");
        int pieces = ((Long) order.get("pieces")).intValue();
        BigDecimal price = new BigDecimal(service.ask("price of " + item, request.callId()));
        BigDecimal total = price.multiply(BigDecimal.valueOf(pieces));
        if (dearest != null && total.compareTo(dearest) > 0) {
            // Nothing is broken, so that this is no exception: the caller sees a failed result and goes on.
            return SubagentResult.error(total + " is more than may be offered", FailureReason.LIMIT);
        }
        Quote.Tier tier = pieces < 10 ? Quote.Tier.STANDARD : Quote.Tier.GOLD;
        List<Quote.Line> lines = List.of(new Quote.Line(pieces, total));
        return SubagentResult.ok(
                new Quote(item, total, tier, LocalDate.of(2030, 12, 31), lines, Optional.of("while stocks last")));
    }
}
