package bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;

/**
 * Fails the task again and again, and takes a reading of the process just before.
 *
 * <p>An attempt fails at the first output after {@code outputs} of them and a completed checkpoint. Each reading is a line
 * {@code attempt,threads,rss,heap,classes,compiled code}, sizes in bytes, added to a file: the process outlives its tasks.
 */
public final class Restarts<T> extends RichMapFunction<T, T> implements CheckpointListener {
    private static final long serialVersionUID = 1L;

    private final String readings;
    private final long outputs;
    private transient long seen;
    private transient boolean hasCheckpoint;

    public Restarts(String readings, long outputs) {
        this.readings = readings;
        this.outputs = outputs;
    }

    @Override
    public void open(OpenContext context) {
        seen = 0;
        hasCheckpoint = false;
    }

    @Override
    public T map(T value) throws IOException {
        seen++;
        if (seen >= outputs && hasCheckpoint) {
            int attempt = getRuntimeContext().getTaskInfo().getAttemptNumber();
            write(attempt);
            throw new IOException("attempt " + attempt + " ends here, as it is to");
        }
        return value;
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        hasCheckpoint = true;
    }

    private void write(int attempt) throws IOException {
        Reading now = Reading.take(true);
        String line = String.format(
                "%d,%d,%d,%d,%d,%d%n",
                attempt, Reading.threads(), now.rssBytes(), now.heapBytes(), used("Metaspace"), used("Code"));
        Files.writeString(Path.of(readings), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private static long used(String poolsBeginningWith) {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getName().startsWith(poolsBeginningWith))
                .mapToLong(pool -> pool.getUsage().getUsed())
                .sum();
    }
}
