"""Jobs of Apache Flink Agents, written from its public documentation; they run in its own virtual environment."""
