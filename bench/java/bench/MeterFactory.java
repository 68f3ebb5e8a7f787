package bench;

import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;

/** Makes a {@link Meter}. */
public final class MeterFactory<T> extends AbstractStreamOperatorFactory<Void>
        implements OneInputStreamOperatorFactory<T, Void> {
    private static final long serialVersionUID = 1L;

    private final long warmUp;
    private final long total;
    private final boolean memory;

    public MeterFactory(long warmUp, long total, boolean memory) {
        this.warmUp = warmUp;
        this.total = total;
        this.memory = memory;
        this.chainingStrategy = ChainingStrategy.ALWAYS;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <O extends StreamOperator<Void>> O createStreamOperator(StreamOperatorParameters<Void> parameters) {
        return (O) new Meter<T>(parameters, warmUp, total, memory);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return Meter.class;
    }
}
