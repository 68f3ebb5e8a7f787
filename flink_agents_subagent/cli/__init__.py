"""The command line: `flink-agents-subagent` with `doctor`, `check`, `schema` and `options`. Needs the extra `cli`."""
