package bench;

import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.types.Row;

/** Makes a {@link BareOperator}. */
public final class BareOperatorFactory extends AbstractStreamOperatorFactory<byte[]>
        implements OneInputStreamOperatorFactory<Row, byte[]> {
    private static final long serialVersionUID = 1L;

    private final String module;

    public BareOperatorFactory(String module) {
        this.module = module;
        this.chainingStrategy = ChainingStrategy.ALWAYS;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <O extends StreamOperator<byte[]>> O createStreamOperator(StreamOperatorParameters<byte[]> parameters) {
        return (O) new BareOperator(parameters, module);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return BareOperator.class;
    }
}
