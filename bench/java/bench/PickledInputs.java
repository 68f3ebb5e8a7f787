package bench;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.functions.MapFunction;

/**
 * Turns the number n into the pickle of {@code {"key": "k<n mod keys>", "value": n}}.
 *
 * <p>That is what a PyFlink stream of dictionaries carries, made without a Python process: every contestant gets the same
 * input at a cost that none of them notices.
 */
public final class PickledInputs implements MapFunction<Long, byte[]> {
    private static final long serialVersionUID = 1L;

    private final long keys;

    public PickledInputs(long keys) {
        this.keys = keys;
    }

    @Override
    public byte[] map(Long number) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(48);
        out.writeBytes(new byte[] {(byte) 0x80, 2, '}', '('});
        text(out, "key");
        text(out, keyOf(number, keys));
        text(out, "value");
        out.write('J');
        int32(out, Math.toIntExact(number));
        out.writeBytes(new byte[] {'u', '.'});
        return out.toByteArray();
    }

    static String keyOf(long number, long keys) {
        return "k" + number % keys;
    }

    private static void text(ByteArrayOutputStream out, String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        out.write('X');
        int32(out, utf8.length);
        out.writeBytes(utf8);
    }

    private static void int32(ByteArrayOutputStream out, int value) {
        out.writeBytes(new byte[] {(byte) value, (byte) (value >> 8), (byte) (value >> 16), (byte) (value >> 24)});
    }
}
