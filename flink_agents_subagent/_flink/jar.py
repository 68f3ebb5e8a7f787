"""Where the Java half is. Imports nothing, so that it can be asked where PyFlink is missing."""

from pathlib import Path

__all__ = ["JAR"]

JAR = Path(__file__).parent.parent / "lib" / "flink-agents-subagent.jar"
