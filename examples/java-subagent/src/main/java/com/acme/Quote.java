package com.acme;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;

/**
 * An offer. In Python it is a model with fields of the same names.
 *
 * @param item what is offered
 * @param total the price of all lines together
 * @param tier how the customer is treated
 * @param validUntil the last day of the offer
 * @param lines what it consists of
 * @param note for people
 */
public record Quote(
        String item, BigDecimal total, Tier tier, LocalDate validUntil, List<Line> lines, Optional<String> note) {
    /** Kinds of customers. */
    public enum Tier {
        STANDARD,
        GOLD
    }

    /**
     * A part of an offer.
     *
     * @param pieces how many
     * @param price of all of them
     */
    public record Line(int pieces, BigDecimal price) {}
}
