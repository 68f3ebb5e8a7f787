"""`python -m e2e.scenarios [name …]`: run scenarios and print a table. Owns the command line."""

from __future__ import annotations

import argparse
import random
import sys
import traceback
from pathlib import Path

from e2e.harness.processes import HarnessError, temporary_folder
from e2e.harness.signals import stop_on_signals
from e2e.scenarios.catalogue import SCENARIOS
from e2e.scenarios.model import Scenario
from e2e.scenarios.runner import Outcome, run_scenario
from e2e.scenarios.table import Result, append_result, table
from e2e.scenarios.world import Worlds


def main() -> int:
    """Run the scenarios and return the exit status."""
    parser = argparse.ArgumentParser(description="Run reliability scenarios on a real cluster.")
    parser.add_argument("names", nargs="*", metavar="name", help="which ones; all by default")
    parser.add_argument("--seed", type=int, help="of the random moments; a new one by default")
    parser.add_argument("--times", type=int, default=1, help="how often each is run, with the seeds that follow")
    parser.add_argument("--results", type=Path, help="a file to which the results are added, for e2e.scenarios.table")
    parser.add_argument("--keep", type=Path, help="an empty folder to work in, which stays")
    options = parser.parse_args()
    if unknown := set(options.names) - SCENARIOS.keys():
        parser.error(f"no scenario {', '.join(sorted(unknown))}; there are {', '.join(SCENARIOS)}")
    seed = random.randrange(10_000) if options.seed is None else options.seed
    chosen = [SCENARIOS[name] for name in options.names] or list(SCENARIOS.values())
    seeds = range(seed, seed + options.times)
    with stop_on_signals():
        if options.keep is not None:
            return _run(chosen, seeds, options.keep, options.results)
        with temporary_folder("scenarios-") as folder:
            return _run(chosen, seeds, folder, options.results)


def _run(scenarios: list[Scenario], seeds: range, folder: Path, kept: Path | None) -> int:
    results: list[Result] = []
    failed: list[str] = []
    with Worlds(folder) as worlds:
        for seed in seeds:
            for scenario in scenarios:
                outcome = _run_one(scenario, seed, worlds, folder)
                if outcome is not None:
                    results.append(Result.of(outcome))
                    if kept is not None:
                        append_result(kept, results[-1])
                if outcome is None or outcome.problems:
                    failed.append(f"{scenario.name} (--seed {seed})")
    print(f"\n{table(results)}")
    runs = len(scenarios) * len(seeds)
    print(f"\n{runs - len(failed)} of {runs} runs are as they must be.")
    for name in failed:
        print(f"  FAILED  {name}")
    return 1 if failed else 0


def _run_one(scenario: Scenario, seed: int, worlds: Worlds, folder: Path) -> Outcome | None:
    print(f"==> {scenario.name}, seed {seed}", flush=True)
    place = folder / f"{scenario.name}-{seed}"
    place.mkdir()
    try:
        outcome = run_scenario(scenario, seed, worlds, place, lambda text: print(f"    {text}", flush=True))
    except HarnessError:
        traceback.print_exc(file=sys.stdout)
        return None
    for report in outcome.reports:
        print(f"    {report}", flush=True)
    print(f"    {'FAILED' if outcome.problems else 'as it must be'} in {outcome.seconds:.0f} s", flush=True)
    for problem in outcome.problems:
        print(f"    PROBLEM  {problem}", flush=True)
    return outcome


if __name__ == "__main__":
    sys.exit(main())
