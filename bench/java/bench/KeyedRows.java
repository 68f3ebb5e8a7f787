package bench;

import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.types.Row;

/** The same inputs as (key, pickle) rows, so that the bare operator is keyed in Java, without a Python process. */
public final class KeyedRows implements MapFunction<Long, Row> {
    private static final long serialVersionUID = 1L;

    private final long keys;
    private final PickledInputs pickles;

    public KeyedRows(long keys) {
        this.keys = keys;
        this.pickles = new PickledInputs(keys);
    }

    @Override
    public Row map(Long number) {
        return Row.of(PickledInputs.keyOf(number, keys), pickles.map(number));
    }
}
