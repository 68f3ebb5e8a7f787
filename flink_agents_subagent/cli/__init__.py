"""The command line: `flink-agents-subagent doctor` and `options`. Needs the extra `cli`."""
