"""The commands and how they look. Owns no checks."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from flink_agents_subagent._flink.jar import JAR
from flink_agents_subagent.cli.checks import Check, check_cluster, check_here
from flink_agents_subagent.descriptor import check_agents
from flink_agents_subagent.options import render_options

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Tools around agents on Flink.")


@app.command()
def doctor(
    conf: Annotated[
        Path | None, typer.Option(help="Check a cluster too: its config.yaml.", exists=True, dir_okay=False)
    ] = None,
    lib: Annotated[
        Path | None,
        typer.Option(help="The cluster's lib folder; else lib/ beside the folder of --conf.", file_okay=False),
    ] = None,
) -> None:
    """Check whether jobs can be submitted and run here; ends with status 1 when something is wrong."""
    checks = list(check_here())
    if conf is not None:
        checks += check_cluster(conf, lib or conf.resolve().parent.parent / "lib")
    console = Console()
    console.print(_table(checks))
    wrong = [check for check in checks if not check.is_ok]
    for check in wrong:
        console.print(f"{check.name}: {check.remedy}", highlight=False, markup=False, soft_wrap=True)
    console.print("Everything is in place." if not wrong else f"{len(wrong)} of {len(checks)} checks failed.")
    raise typer.Exit(1 if wrong else 0)


@app.command()
def jar() -> None:
    """Print the path of the Java half: what sub-agents in Java are compiled against."""
    typer.echo(str(JAR))


@app.command()
def options() -> None:
    """Print docs/options.md: every option with its default and meaning."""
    typer.echo(render_options(), nl=False)


@app.command()
def check(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="YAML files of agents.", exists=True, dir_okay=False)
    ],
) -> None:
    """Check files of agents, the functions and classes that they name included; ends with status 1 when something is wrong.

    Modules are looked for in the current folder too, as `python -m` does.
    """
    sys.path.insert(0, str(Path.cwd()))
    problems = [problem for path in paths for problem in check_agents(path)]
    for problem in problems:
        typer.echo(problem)
    typer.echo(f"{_counted(len(problems) or 'no', 'problem')} in {_counted(len(paths), 'file')}.")
    raise typer.Exit(1 if problems else 0)


@app.command()
def schema() -> None:
    """Print the JSON schema of files of agents, for editors and other tools."""
    typer.echo(
        files("flink_agents_subagent").joinpath("schema/agent.schema.json").read_text(encoding="utf-8"), nl=False
    )


def _counted(count: int | str, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _table(checks: list[Check]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("", "check", "found"):
        table.add_column(heading)
    for check in checks:
        table.add_row("ok" if check.is_ok else "FAILED", check.name, check.found)
    return table
