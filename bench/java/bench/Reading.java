package bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** Clock, CPU and, if wanted, memory of this process at one moment; {@code rssBytes} and {@code heapBytes} are 0 otherwise. */
public record Reading(long nanos, long cpuNanos, long rssBytes, long heapBytes) {
    static Reading take(boolean memory) throws IOException {
        long heap = memory ? reachableBytes() : 0;
        long rss = memory ? status("VmRSS") * 1024 : 0;
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return new Reading(System.nanoTime(), system.getProcessCpuTime(), rss, heap);
    }

    /** The threads of this process, those that are not Java's included. */
    static long threads() throws IOException {
        return status("Threads");
    }

    /** The heap in use after a collection, which also unloads the classes that nobody needs. */
    private static long reachableBytes() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static long status(String name) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith(name + ":")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IOException("no " + name + " line in /proc/self/status");
    }
}
