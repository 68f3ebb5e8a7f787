"""What a job takes along besides its graph: our jar, Python files, the interpreter. Submission side only."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from pyflink.datastream import StreamExecutionEnvironment
from pyflink.java_gateway import get_gateway
from pyflink.util.java_utils import get_j_env_configuration, is_local_deployment

from flink_agents_subagent._flink.jar import JAR
from flink_agents_subagent.errors import DefinitionError

__all__ = ["add_jar", "check_java", "java_version", "python_executable", "ship_python"]

_EXECUTABLE = "python.executable"
_PYTHON_PATH = "python.pythonpath"
_OLDEST_JAVA = 17


def java_version() -> str:
    """Return the version of the Java that builds the graph, and in a local cluster also runs it: `17`, or `1.8` of old ones."""
    version: str = get_gateway().jvm.java.lang.System.getProperty("java.specification.version")
    return version


def check_java(version: str) -> None:
    """Refuse a Java that cannot load the Java half, before Flink fails with a class file version.

    Raises:
        DefinitionError: It is too old.
    """
    if int(version.removeprefix("1.").partition(".")[0]) < _OLDEST_JAVA:
        raise DefinitionError(
            f"this Java is version {version}, the Java half of flink-agents-subagent needs {_OLDEST_JAVA} or newer: point "
            "JAVA_HOME at one here, and for every JobManager and TaskManager (a cluster on an older Java says "
            "UnsupportedClassVersionError)"
        )


def add_jar(environment: StreamExecutionEnvironment, jar: Path = JAR) -> None:
    """Make the Java half part of the job, and known to this process.

    Raises:
        DefinitionError: The package was installed without it.
    """
    if not jar.is_file():
        raise DefinitionError(
            f"the Java half of this package is missing: {jar}. In a source tree build it with `make jar`; "
            "an installed package holds it, so install flink-agents-subagent again from a wheel"
        )
    environment.add_jars(jar.as_uri())


def ship_python(environment: StreamExecutionEnvironment) -> None:
    """Let operators that PyFlink does not know find the Python files of the job; call it after the files were added.

    Guarantee: may be called again, after more files were added.
    """
    configuration = _configuration(environment)
    if is_local_deployment(configuration):
        _use_this_python(configuration)
    # PyFlink tells the names of shipped files to its own operators only.
    utilities = get_gateway().jvm.org.apache.flink.python.util.PythonConfigUtil
    shipped = utilities.getEnvironmentConfig(environment._j_stream_execution_environment)
    shipped.addAll(utilities.extractPythonConfiguration(shipped))


def python_executable(environment: StreamExecutionEnvironment) -> str | None:
    """Return the interpreter that the TaskManagers are told to use, None when they choose."""
    executable: str | None = _configuration(environment).getString(_EXECUTABLE, None)
    return executable


def _configuration(environment: StreamExecutionEnvironment) -> Any:
    return get_j_env_configuration(environment._j_stream_execution_environment)


def _use_this_python(configuration: Any) -> None:
    """In a local cluster, run agents by the interpreter that submits them, with its module path: no set-up needed (P9)."""
    if configuration.getString(_EXECUTABLE, None) is None:
        configuration.setString(_EXECUTABLE, sys.executable)
    if configuration.getString(_PYTHON_PATH, None) is None:
        # The script's own folder is an empty entry when Python reads from standard input or runs `-c`.
        entries = dict.fromkeys(str(Path(entry or ".").absolute()) for entry in sys.path if Path(entry or ".").exists())
        configuration.setString(_PYTHON_PATH, os.pathsep.join(entries))
