"""`python -m bench`: run our jobs and the peers' in turns and print one table."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence

from bench.catalogue import MEASURES, WORKLOADS, Measure
from bench.contestants import CONTESTANTS, Contestant
from bench.environments import SetupError
from bench.jars import jar_for
from bench.report import Results
from bench.runner import Extent, entries, run_all


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; return 1 where a job failed or a target was missed, 2 where nothing could be run."""
    options = _parser().parse_args(arguments)
    measures = _measures(options.only)
    contestants = _contestants(options.contestants)
    names = {measure.workload for measure in measures}
    wanted = entries([workload for workload in WORKLOADS if workload.name in names], contestants)
    if not wanted:
        print("no job of these measures and contestants; bench/README.md lists both", file=sys.stderr)
        return 2
    try:
        for entry in wanted:
            jar_for(entry.contestant.environment)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 2
    extent = Extent(options.quick, dict(options.size))
    results = Results(measures, contestants, list(run_all(wanted, options.runs, extent)))
    print(results.table())
    print(f"\nSaved as {results.save(runs=options.runs, quick=options.quick)}")
    return 0 if results.is_good else 1


def _measures(only: str) -> list[Measure]:
    wanted = {name.strip().lower() for name in only.split(",") if name.strip()}
    return [measure for measure in MEASURES if not wanted or wanted & {measure.id.lower(), measure.workload}]


def _contestants(names: str) -> list[Contestant]:
    wanted = {name.strip() for name in names.split(",") if name.strip()}
    return [contestant for contestant in CONTESTANTS if not wanted or contestant.name in wanted]


def _size(text: str) -> tuple[str, int]:
    name, is_given, value = text.partition("=")
    known = {size for workload in WORKLOADS for sizes in workload.sizes.values() for size in sizes}
    if name not in known or not is_given or not value.isdigit():
        raise argparse.ArgumentTypeError(
            f"{text!r} is not one of {', '.join(sorted(known))} with a number, as in minutes=30"
        )
    return name, int(value)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", default="", help="some measures, by id or workload: PF1,PF4,pf4_waiting")
    parser.add_argument("--contestants", default="", help=f"some of {','.join(one.name for one in CONTESTANTS)}")
    parser.add_argument("--runs", type=int, default=3, help="how often each job runs (default 3)")
    parser.add_argument(
        "--size", type=_size, action="append", default=[], help="a size of the jobs that have it: minutes=30"
    )
    parser.add_argument("--quick", action="store_true", help="a quarter of the inputs: a smoke test, not a figure")
    return parser


if __name__ == "__main__":
    # As an exception, so that a running job is ended on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
