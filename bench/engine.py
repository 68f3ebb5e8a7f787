"""`python -m bench.engine`: what the engine alone costs per input, in CPU time, without Flink, threads or a store.

The host here does the least that a host can do, so that next to nothing but the engine is measured. Samples are short and
the cheapest counts: on a machine that does other things too, it is the one that was disturbed least.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pickle
import pstats
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from bench.ours.agents import CountingAgent, DurableCallAgent, TrivialAgent
from bench.ours.chat import ChatAgent
from flink_agents_subagent import Agent
from flink_agents_subagent._engine.effects import (
    Append,
    CallReturned,
    EnginePorts,
    FailTask,
    InputFinished,
    StartCall,
    WriteMemory,
    WriteRunNumber,
)
from flink_agents_subagent._engine.encoding import key_bytes
from flink_agents_subagent._engine.engine import Engine
from flink_agents_subagent._engine.settings import EngineSettings
from flink_agents_subagent._flink.process import set_up_process
from flink_agents_subagent._plan import ResourceLifecycle, compile_agent

AGENTS: Mapping[str, type[Agent]] = MappingProxyType(
    {"trivial": TrivialAgent, "memory": CountingAgent, "await": DurableCallAgent, "chat": ChatAgent}
)
BATCH = 200
"""Inputs whose completions, and then acknowledgements, come together."""
KEYS = 1000
_INPUTS = [pickle.dumps({"key": f"k{number % KEYS}", "value": number}, 2) for number in range(20 * KEYS)]
_KEYS = [key_bytes(f"k{number}") for number in range(KEYS)]


@dataclass
class Cost:
    """CPU per input in microseconds, of the commands that an input causes one after the other."""

    process: float = 0.0
    complete: float = 0.0
    acknowledge: float = 0.0

    @property
    def total(self) -> float:
        """All of it."""
        return self.process + self.complete + self.acknowledge


@dataclass
class Keyed:
    """Keyed state; also the store that blocks, which none of these agents uses."""

    memory: dict[tuple[bytes, str], bytes | None] = field(default_factory=dict)
    numbers: dict[bytes, int] = field(default_factory=dict)

    def read(self, key: bytes, path: str) -> bytes | None:
        """Return a memory entry."""
        return self.memory.get((key, path))

    def run_number(self, key: bytes) -> int:
        """Return the number of the last run."""
        return self.numbers.get(key, 0)

    def commit(self, append: Append) -> None:
        """Refuse: nothing here blocks."""
        raise NotImplementedError(f"no agent of this benchmark commits: {append}")

    def now(self) -> int:
        """Return the engine time."""
        return 0


class Host:
    """Drives one engine and performs its effects."""

    def __init__(self, agent: type[Agent]) -> None:
        self.keyed = Keyed()
        ports = EnginePorts(self.keyed, self.keyed, pickle.loads, pickle.dumps)
        compiled = compile_agent(agent())
        # None of them opens anything that needs a loop.
        ResourceLifecycle(compiled.resources, asyncio.run).open()
        self.engine = Engine(compiled, EngineSettings("bench", "bench"), ports)
        self.engine.start(1)
        self.now_ms = 1
        self.ticket = 0
        self.finished = 0
        self.calls: list[StartCall] = []
        self.appended: list[int] = []

    def perform(self) -> None:
        """Do what the engine asks for."""
        for effect in self.engine.take_effects():
            kind = type(effect)
            if kind is InputFinished:
                self.finished += 1
            elif isinstance(effect, StartCall):
                self.calls.append(effect)
            elif isinstance(effect, Append):
                self.appended.append(effect.seq)
            elif isinstance(effect, WriteRunNumber):
                self.keyed.numbers[effect.key] = effect.run_number
            elif isinstance(effect, WriteMemory):
                self.keyed.memory.update(((effect.key, path), data) for path, data in effect.entries.items())
            elif isinstance(effect, FailTask):
                raise effect.error

    def process(self) -> None:
        """Bring a batch of inputs."""
        self.now_ms += 1
        for _ in range(BATCH):
            self.ticket += 1
            key, value = _KEYS[self.ticket % KEYS], _INPUTS[self.ticket % len(_INPUTS)]
            self.engine.process_input(self.ticket, key, value, None, self.now_ms)
            self.perform()

    def complete(self, ended: Iterable[tuple[int, object]]) -> None:
        """Bring the values of calls."""
        self.now_ms += 1
        for call, value in ended:
            self.engine.complete_call(call, CallReturned(value), self.now_ms)
        self.perform()

    def acknowledge(self) -> None:
        """Acknowledge what was appended."""
        self.now_ms += 1
        appended, self.appended = self.appended, []
        self.engine.acknowledge(appended, self.now_ms)
        self.perform()


def sample(host: Host, batches: int) -> Cost:
    """Run some batches to their end and return what they cost."""
    cost, started = Cost(), host.finished
    for _ in range(batches):
        cost.process += _seconds(host.process)
        while host.calls:
            calls, host.calls = host.calls, []
            ended = [(effect.call, _run(effect.function())) for effect in calls]
            cost.complete += _seconds(lambda: host.complete(ended))  # noqa: B023 - called at once
            cost.acknowledge += _seconds(host.acknowledge)
    inputs = batches * BATCH
    if host.finished - started != inputs:
        raise RuntimeError(f"{host.finished - started} of {inputs} inputs were finished; the figures mean nothing")
    return Cost(*(part * 1e6 / inputs for part in (cost.process, cost.complete, cost.acknowledge)))


def _run(coroutine: Any) -> object:
    """Return the value of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise RuntimeError(f"{coroutine!r} waits; the calls of this benchmark do nothing")


def _seconds(step: Callable[[], None]) -> float:
    started = time.process_time()
    step()
    return time.process_time() - started


def _yardstick() -> float:
    """Return the microseconds of making an object and calling it."""
    started = time.process_time()
    for number in range(2000):
        complex(number, number).conjugate()
    return (time.process_time() - started) * 1e6 / 2000


def main() -> None:
    """Measure the agents in turns and print a table."""
    set_up_process()
    options = _parser().parse_args()
    names = [options.profile] if options.profile else list(AGENTS)
    hosts = {name: Host(AGENTS[name]) for name in names}
    for host in hosts.values():
        sample(host, 5)
    if options.profile:
        with cProfile.Profile() as profile:
            sample(hosts[options.profile], 100)
        pstats.Stats(profile).sort_stats("tottime").print_stats(60)
        return
    samples: dict[str, list[Cost]] = {name: [] for name in names}
    yardstick = min(_yardstick() for _ in range(20))
    for _ in range(options.samples):
        for name, host in hosts.items():
            samples[name].append(sample(host, 1))
        yardstick = min(yardstick, _yardstick())
    print(_table(samples, yardstick))


def _table(samples: Mapping[str, list[Cost]], yardstick: float) -> str:
    lines = [
        "| agent | µs per input | process | complete | acknowledge | median | yardsticks |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, costs in samples.items():
        best = min(costs, key=lambda cost: cost.total)
        median = statistics.median(cost.total for cost in costs)
        figures = (best.total, best.process, best.complete, best.acknowledge, median, best.total / yardstick)
        lines.append(f"| {name} | {' | '.join(f'{figure:.2f}' for figure in figures)} |")
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description=__doc__)
    parser.add_argument(
        "--samples", type=int, default=300, help=f"samples of {BATCH} inputs for each agent (default 300)"
    )
    parser.add_argument("--profile", choices=list(AGENTS), help="print a profile of this agent instead")
    return parser


if __name__ == "__main__":
    main()
