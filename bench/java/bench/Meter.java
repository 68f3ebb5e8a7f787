package bench;

import java.io.IOException;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * The end of every measured job: counts outputs and reads clock, CPU and memory at two marks.
 *
 * <p>The first mark is output number {@code warmUp} (0: when the job starts), the second is output number {@code total}. What lies between them is
 * steady work: start-up, warm-up and shut-down fall outside. The readings leave the job as accumulators.
 */
public final class Meter<T> extends AbstractStreamOperator<Void> implements OneInputStreamOperator<T, Void> {
    private static final long serialVersionUID = 1L;

    private final long warmUp;
    private final long total;
    private final boolean memory;
    private long outputs;
    private Reading begin;

    Meter(StreamOperatorParameters<Void> parameters, long warmUp, long total, boolean memory) {
        super(parameters);
        this.warmUp = warmUp;
        this.total = total;
        this.memory = memory;
    }

    @Override
    public void open() throws Exception {
        super.open();
        if (warmUp == 0) {
            begin = Reading.take(memory);
        }
    }

    @Override
    public void processElement(StreamRecord<T> element) throws IOException {
        outputs++;
        if (outputs == 1) {
            report("first_output_epoch_ms", System.currentTimeMillis());
        }
        if (outputs == warmUp) {
            begin = Reading.take(memory);
        }
        if (outputs == total && begin != null) {
            reportWindow(Reading.take(memory));
        }
    }

    @Override
    public void finish() {
        report("outputs", outputs);
        report("end_epoch_ms", System.currentTimeMillis());
    }

    private void reportWindow(Reading end) {
        report("inputs", total - warmUp);
        report("nanos", end.nanos() - begin.nanos());
        report("cpu_nanos", end.cpuNanos() - begin.cpuNanos());
        if (memory) {
            report("rss_growth_bytes", end.rssBytes() - begin.rssBytes());
            report("heap_growth_bytes", end.heapBytes() - begin.heapBytes());
        }
    }

    private void report(String name, long value) {
        getRuntimeContext().addAccumulator(name, new LongCounter(value));
    }
}
