"""What the submission and the Java side tell an operator besides the plan (decision 0005). Owns reading it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from flink_agents_subagent._engine.settings import EngineSettings
from flink_agents_subagent._flink.shipped import refuse_other_versions
from flink_agents_subagent.errors import DefinitionError, UnknownVersionError

__all__ = ["OperatorSettings"]

_VERSION = 1


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    """The settings of one operator instance."""

    python_version: str
    python_files_directory: str
    """Where Flink has unpacked the files of the job; need not exist."""
    input_format: str
    output_format: str
    crash_at: str
    """The point at which the process is to die, as in `before-call-end:3`; empty: none (decision 0011)."""
    engine: EngineSettings
    where: Mapping[str, str | int]
    """Which attempt of which subtask it is, as lines of the event log say it."""

    @classmethod
    def parse(cls, settings: bytes) -> OperatorSettings:
        """Read the JSON.

        Raises:
            UnknownVersionError: It is of another release.
        """
        told = json.loads(settings)
        if told["version"] != _VERSION:
            raise UnknownVersionError(
                f"the settings of the operator have version {told['version']}, this release reads {_VERSION}; use one release "
                "of flink-agents-subagent where the job is submitted and where it runs"
            )
        return cls(
            python_version=told["python-version"],
            python_files_directory=told["python-files-directory"],
            input_format=told["input-format"],
            output_format=told["output-format"],
            crash_at=told["crash-at"],
            engine=EngineSettings.from_options(told["job-identifier"], told["operator-uid"], told["options"]),
            where={
                "job": told["job-identifier"],
                "operator": told["operator-uid"],
                "subtask": int(told["subtask"]),
                "task_attempt": int(told["task-attempt"]),
            },
        )

    def check_python(self) -> None:
        """Refuse another Python than the one that made the plan (E4.8, P2).

        Raises:
            DefinitionError: Names both and the interpreter.
        """
        running = f"{sys.version_info.major}.{sys.version_info.minor}"
        if running != self.python_version:
            raise DefinitionError(
                f"the Python embedded in the TaskManager ({sys.prefix}) is version {running}, the job was submitted with "
                f"{self.python_version}; a TaskManager process embeds one Python for all its jobs: set python.executable "
                f"to a Python {self.python_version} in all of them and restart the TaskManager"
            )

    def check_shipped_modules(self) -> None:
        """Refuse modules that another job has loaded in another version (P1)."""
        refuse_other_versions(self.python_files_directory)
