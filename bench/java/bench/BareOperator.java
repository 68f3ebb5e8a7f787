package bench;

import java.util.HashMap;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.python.env.PythonDependencyInfo;
import org.apache.flink.python.env.embedded.EmbeddedPythonEnvironment;
import org.apache.flink.python.env.embedded.EmbeddedPythonEnvironmentManager;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Row;
import pemja.core.PythonInterpreter;

/**
 * The limit: an operator that does nothing but call one Python function per record in the embedded interpreter.
 *
 * <p>No state, no journal, no events. Whatever does more per record than this must be slower.
 */
public final class BareOperator extends AbstractStreamOperator<byte[]> implements OneInputStreamOperator<Row, byte[]> {
    private static final long serialVersionUID = 1L;

    private final String module;
    private transient EmbeddedPythonEnvironmentManager environments;
    private transient PythonInterpreter interpreter;

    BareOperator(StreamOperatorParameters<byte[]> parameters, String module) {
        super(parameters);
        this.module = module;
    }

    @Override
    public void open() throws Exception {
        super.open();
        environments = new EmbeddedPythonEnvironmentManager(
                threadMode(PythonDependencyInfo.create(configuration(), getRuntimeContext().getDistributedCache())),
                getContainingTask().getEnvironment().getTaskManagerInfo().getTmpDirectories(),
                new HashMap<>(System.getenv()),
                getRuntimeContext().getJobInfo().getJobId());
        environments.open();
        interpreter =
                new PythonInterpreter(((EmbeddedPythonEnvironment) environments.createEnvironment()).getConfig());
        interpreter.exec("import " + module + " as bare_action");
    }

    @Override
    public void processElement(StreamRecord<Row> element) {
        Object result = interpreter.invoke("bare_action.handle", element.getValue().getField(1));
        output.collect(element.replace((byte[]) result));
    }

    @Override
    public void close() throws Exception {
        if (interpreter != null) {
            interpreter.close();
        }
        if (environments != null) {
            environments.close();
        }
        super.close();
    }

    private Configuration configuration() {
        Configuration merged = new Configuration();
        merged.addAll(getContainingTask()
                .getEnvironment()
                .getTaskManagerInfo()
                .getConfiguration());
        merged.addAll(getContainingTask().getJobConfiguration());
        return merged;
    }

    private static PythonDependencyInfo threadMode(PythonDependencyInfo found) {
        return new PythonDependencyInfo(
                found.getPythonFiles(),
                found.getRequirementsFilePath().orElse(null),
                found.getRequirementsCacheDir().orElse(null),
                found.getArchives(),
                found.getPythonExec(),
                "thread",
                found.getPythonPath().orElse(null));
    }
}
