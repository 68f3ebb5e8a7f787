package bench;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.functions.MapFunction;

/** Hands numbers on at an even rate: each one as soon as it is due. */
public final class Paced implements MapFunction<Long, Long> {
    private static final long serialVersionUID = 1L;

    private final long perSecond;
    private long begin;
    private long passed;

    public Paced(long perSecond) {
        this.perSecond = perSecond;
    }

    @Override
    public Long map(Long number) {
        begin = passed == 0 ? System.nanoTime() : begin;
        long due = begin + passed * TimeUnit.SECONDS.toNanos(1) / perSecond;
        passed++;
        for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        return number;
    }
}
