"""The Flink that the apache-flink package brings. Owns where its parts lie; starts nothing."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML

from e2e.harness.processes import HarnessError

__all__ = ["FlinkDistribution"]

_JVM_OPTIONS = "env.java.opts.all"
_LOGGING = """\
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = console
appender.console.name = console
appender.console.type = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss,SSS} %-5p %c{1} - %m%n%throwable
"""


@dataclass(frozen=True, slots=True)
class FlinkDistribution:
    """A Flink installation."""

    home: Path

    @classmethod
    def installed(cls) -> FlinkDistribution:
        """Find the Flink of this interpreter's apache-flink package, without importing it."""
        spec = importlib.util.find_spec("pyflink")
        if spec is None or not spec.submodule_search_locations:
            raise HarnessError(
                "apache-flink is not installed in this environment: pip install 'apache-flink>=2.3,<2.4'"
            )
        return cls(Path(spec.submodule_search_locations[0]))

    def script(self, name: str) -> Path:
        """Return the path of a script in `bin`."""
        return self.home / "bin" / name

    def link_libraries(self, folder: Path) -> None:
        """Fill `folder` with links to what a session cluster has to have in `lib`.

        flink-python belongs there too: otherwise each job loads its Python library anew, and the second one fails.
        """
        folder.mkdir()
        for jar in (*self.home.glob("lib/*.jar"), *self.home.glob("opt/flink-python-*.jar")):
            (folder / jar.name).symlink_to(jar)

    def write_configuration(self, folder: Path, options: Mapping[str, str]) -> None:
        """Write a configuration folder: the installation's own files, and `options` in place of its config.yaml.

        Options of all JVMs are added to those that the installation's file has: without its openings nothing works.
        """
        shutil.copytree(self.home / "conf", folder)
        stock = YAML(typ="safe").load(self.home / "conf" / "config.yaml")
        stock_jvm_options = stock["env"]["java"]["opts"]["all"]
        merged = {**options, _JVM_OPTIONS: f"{stock_jvm_options} {options.get(_JVM_OPTIONS, '')}".strip()}
        with (folder / "config.yaml").open("w", encoding="utf-8") as file:
            YAML(typ="safe").dump(merged, file)
        for name in ("log4j-console.properties", "log4j-cli.properties", "log4j-session.properties"):
            (folder / name).write_text(_LOGGING, encoding="utf-8")
