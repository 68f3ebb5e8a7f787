"""The sans-IO engine. It knows agents, journals and replay; it must not know Flink, pemja, threads, clocks or files."""
