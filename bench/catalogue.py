"""What is run and what is compared: workloads with the sizes of each contestant's job, measures with their targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

RATE = "inputs_per_second"
"""The one figure that no job hands in: it is worked out from inputs and seconds."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One job a contestant.

    Args:
        name: The module of the jobs.
        sizes: By contestant; who is not named gets those under "".
        scaled: The sizes that a quick run divides by four.
        jvm_options: Beside those that every job gets.
        has_broker: Whether each job gets a Kafka broker of its own.
        broker_options: Of that broker, over those of the harness.
        timeout_s: After which a job has failed; `minutes` among its sizes come on top.
        is_long: Whether it is run in the first round only.
    """

    name: str
    sizes: Mapping[str, dict[str, int]]
    scaled: tuple[str, ...] = ("warm_up", "inputs")
    jvm_options: str = ""
    has_broker: bool = False
    broker_options: Mapping[str, str] = field(default_factory=dict)
    timeout_s: int = 600
    is_long: bool = False

    def sizes_of(self, contestant: str, given: Mapping[str, int], *, quick: bool) -> dict[str, int]:
        """Return the sizes of a contestant's job; those `given` take the place of its own, where it has them."""
        own = self.sizes.get(contestant, self.sizes[""])
        sizes = own | {name: value for name, value in given.items() if name in own}
        return {name: value // 4 if quick and name in self.scaled else value for name, value in sizes.items()}


class Relation(Enum):
    """How our figure must stand to a peer's, or to a number; as it reads in the table."""

    TIMES = "≥ {amount:g} × it"
    PLUS = "≤ it + {amount:g} {unit}"
    AT_MOST = "≤ {amount:g} {unit}"
    AT_LEAST = "≥ {amount:,g} {unit}"


@dataclass(frozen=True, slots=True)
class Target:
    """What our figure must reach; `peer` is empty where no peer sets the mark."""

    relation: Relation
    amount: float
    peer: str = ""

    def is_met(self, ours: float, peer: float) -> bool:
        """Tell whether our figure reaches the target; `peer` counts only where the relation names one."""
        if self.relation is Relation.TIMES:
            return ours >= self.amount * peer
        if self.relation is Relation.AT_LEAST:
            return ours >= self.amount
        return ours <= self.amount + (peer if self.relation is Relation.PLUS else 0)

    def words(self, unit: str) -> str:
        """Return the target as the table says it."""
        return self.relation.value.format(amount=self.amount, unit=unit)


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a workload, compared: `figure` names it in the job's line, `notes` says by contestant what is special."""

    id: str
    workload: str
    title: str
    figure: str
    unit: str
    targets: tuple[Target, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)


_TOUCHED = "-Xms1g -Xmx1g -XX:+AlwaysPreTouch"
"""All of the heap is touched before the first reading: RSS then grows by what is outside of it."""
_AT_REST = f"{_TOUCHED} -XX:TieredStopAtLevel=1"
"""The second compiler, which compiles what is hot by and by, would make RSS grow through hundreds of restarts."""
_RESTARTS = {"warm_up": 100, "restarts": 200, "outputs": 100}
_SLOW = {"warm_up": 8_000, "inputs": 24_000, "keys": 1000}

WORKLOADS = (
    Workload(
        "pf1",
        {
            "": {"warm_up": 200_000, "inputs": 800_000, "keys": 1000},
            "flink_agents": _SLOW,
            "pyflink": {"warm_up": 60_000, "inputs": 180_000, "keys": 1000},
            "bare": {"warm_up": 500_000, "inputs": 2_000_000, "keys": 1000},
        },
    ),
    Workload("pf2", {"": {"warm_up": 30_000, "inputs": 120_000, "keys": 1000}, "flink_agents": _SLOW}),
    Workload(
        "pf3",
        {
            "": {"warm_up": 20_000, "inputs": 80_000, "keys": 1000},
            "flink_agents": {"warm_up": 300, "inputs": 2_000, "keys": 1000},
        },
        has_broker=True,
    ),
    Workload(
        "pf4",
        {
            "": {"warm_up": 20_000, "inputs": 100_000, "keys": 1000},
            "flink_agents": {"warm_up": 3_000, "inputs": 9_000, "keys": 1000, "threads": 1000},
        },
    ),
    Workload("pf4_waiting", {"": {"waiting": 10_000}, "flink_agents": {"waiting": 1}}),
    Workload("pf5", {"": {"warm_up": 10_000, "inputs": 40_000, "keys": 1000, "per_second": 2_000}}),
    Workload("pf6", {"": {"calls": 4_000}}, scaled=("calls",), has_broker=True),
    Workload(
        "topic_size",
        {"": {"calls": 1_000_000, "keys": 1000, "partitions": 4, "checkpoint_ms": 2_000}},
        scaled=("calls",),
        has_broker=True,
        broker_options={
            "log.segment.delete.delay.ms": "1000",
            "log.retention.check.interval.ms": "1000",
            # How often it notes where logs begin and end.
            "log.flush.start.offset.checkpoint.interval.ms": "1000",
            "replica.high.watermark.checkpoint.interval.ms": "1000",
        },
        is_long=True,
    ),
    Workload("pf7", {"": {"runs": 1_000, "calls": 10}}, scaled=("runs",), has_broker=True),
    Workload("pf8", {"": {"warm_up": 1, "inputs": 19, "keys": 10}}, scaled=()),
    Workload("pf9_restarts", {"": _RESTARTS}, scaled=("warm_up", "restarts"), jvm_options=_AT_REST, is_long=True),
    Workload(
        "pf9_restarts_kafka",
        {"": _RESTARTS},
        scaled=("warm_up", "restarts"),
        jvm_options=_AT_REST,
        has_broker=True,
        is_long=True,
    ),
    Workload(
        "pf9_soak",
        {"": {"minutes": 3, "warm_up": 30_000, "inputs": 120_000, "keys": 1000}},
        jvm_options=_TOUCHED,
        is_long=True,
    ),
    Workload(
        "pf10",
        {
            "": {"warm_up": 1_000_000, "inputs": 2_000_000, "keys": 1000},
            "flink_agents": {"warm_up": 20_000, "inputs": 40_000, "keys": 1000},
        },
        jvm_options=_TOUCHED,
    ),
    Workload("pf10_keys", {"": {"warm_up": 100_000, "inputs": 400_000}}),
    Workload("pf10_parked", {"": {"warm_up": 20_000, "inputs": 100_000}}),
    Workload("subagents_waiting", {"": {"waiting": 10_000}}, scaled=("waiting",)),
    Workload("subagents_together", {"": {"warm_up": 2, "inputs": 5, "keys": 1}}, scaled=()),
)


def _restarts(workload: str, store: str) -> tuple[Measure, ...]:
    """Return the measures of restarts; Flink's own threads come and go."""
    notes = {"ours": store}
    small = (Target(Relation.AT_MOST, 0.1),)
    return (
        Measure(
            "PF9",
            workload,
            "restarts: threads added",
            "threads_added",
            "threads",
            (Target(Relation.AT_MOST, 2),),
            notes,
        ),
        Measure("PF9", workload, "restarts: RSS that each adds", "rss_mib_per_restart", "MiB", small, notes),
        Measure("PF9", workload, "restarts: live heap that each adds", "heap_mib_per_restart", "MiB", small, notes),
    )


MEASURES = (
    Measure(
        "PF1",
        "pf1",
        "trivial `def` action, one subtask",
        RATE,
        "inputs/s",
        (Target(Relation.TIMES, 20, "flink_agents"), Target(Relation.TIMES, 2, "pyflink")),
    ),
    Measure(
        "PF2",
        "pf2",
        "one durable no-op call, 1000 keys",
        RATE,
        "inputs/s",
        (Target(Relation.TIMES, 4, "flink_agents"),),
        {"ours": "embedded store", "flink_agents": "no store: it records nothing"},
    ),
    Measure(
        "PF3",
        "pf3",
        "the same, Kafka store on this machine",
        RATE,
        "calls/s",
        (Target(Relation.TIMES, 20, "flink_agents"), Target(Relation.AT_LEAST, 3_000)),
    ),
    Measure(
        "PF4",
        "pf4",
        "one call of 20 ms, 1000 keys, 1000 in flight",
        RATE,
        "calls/s",
        (Target(Relation.TIMES, 8, "flink_agents"),),
        {"flink_agents": "1000 threads"},
    ),
    Measure(
        "PF4",
        "pf4_waiting",
        "CPU while runs wait for their calls",
        "cores",
        "cores",
        (Target(Relation.AT_MOST, 0.05),),
        {"ours": "10,000 runs wait", "flink_agents": "1 run waits"},
    ),
    Measure("PF5", "pf5", "completion to resumed action, p50", "p50_ms", "ms", (Target(Relation.AT_MOST, 1),)),
    Measure("PF5", "pf5", "completion to resumed action, p99", "p99_ms", "ms", (Target(Relation.AT_MOST, 10),)),
    Measure(
        "PF6",
        "pf6",
        "bytes appended for a byte of payload",
        "bytes_per_payload_byte",
        "",
        (Target(Relation.AT_MOST, 1.2),),
    ),
    Measure(
        "PF6",
        "pf6",
        "bytes appended for a call beside its payload",
        "bytes_beside",
        "bytes",
        (Target(Relation.AT_MOST, 300),),
    ),
    Measure(
        "PF6",
        "pf6",
        "bytes for a call in runs of 100 calls ÷ in runs of one",
        "many_by_one",
        "×",
        (Target(Relation.AT_MOST, 1.2),),
    ),
    Measure(
        "S2.5",
        "topic_size",
        "1,000,000 calls: share of the topic's records released at the end",
        "released_share",
        "",
        (Target(Relation.AT_LEAST, 0.9),),
    ),
    Measure(
        "S2.5",
        "topic_size",
        "1,000,000 calls: largest size on disk, second half ÷ first half",
        "disk_growth",
        "×",
        (Target(Relation.AT_MOST, 1.2),),
    ),
    Measure("S2.5", "topic_size", "the same: appended in all", "appended_mib", "MiB"),
    Measure("S2.5", "topic_size", "the same: largest size on disk", "disk_mib_at_most", "MiB"),
    Measure(
        "PF7",
        "pf7",
        "recovery of 10,000 recorded calls: our own work",
        "own_s",
        "s",
        (Target(Relation.AT_MOST, 2),),
        {"ours": "Kafka store, TaskManager killed"},
    ),
    Measure("PF7", "pf7", "the same, beyond that of one call", "beyond_one_s", "s"),
    Measure(
        "PF8",
        "pf8",
        "quick start: process started to first output",
        "first_output_s",
        "s",
        (Target(Relation.PLUS, 1, "pyflink"),),
    ),
    *_restarts("pf9_restarts", "embedded store"),
    *_restarts("pf9_restarts_kafka", "Kafka store"),
    Measure(
        "PF9",
        "pf9_soak",
        "soak at half load: memory kept (RSS and live heap)",
        "mib_per_minute",
        "MiB/min",
        (Target(Relation.AT_MOST, 1),),
    ),
    Measure(
        "PF9",
        "pf9_soak",
        "the same, second half less first half: flattening",
        "late_beyond_early",
        "MiB/min",
        (Target(Relation.AT_MOST, 0.1),),
    ),
    Measure("PF9", "pf9_soak", "the same: threads added", "threads_added", "threads", (Target(Relation.AT_MOST, 2),)),
    Measure(
        "PF10",
        "pf10",
        "memory kept per trivial input (RSS and live heap)",
        "growth_bytes_per_input",
        "bytes",
        # 16 MB in a million inputs: what RSS wanders by.
        (Target(Relation.AT_MOST, 16),),
    ),
    Measure(
        "PF10",
        "pf10_keys",
        "cost per input: dearest of 1k, 100k, 1M keys ÷ cheapest",
        "dearest_by_cheapest",
        "×",
        (Target(Relation.AT_MOST, 1.2),),
    ),
    Measure(
        "PF10",
        "pf10_parked",
        "cost per input: dearest of 1, 100, 10,000 parked runs ÷ cheapest",
        "dearest_by_cheapest",
        "×",
        (Target(Relation.AT_MOST, 1.2),),
    ),
    Measure(
        "M3",
        "subagents_waiting",
        "CPU while 10,000 runs of a service wait, none probed",
        "cores_waiting",
        "cores",
        (Target(Relation.AT_MOST, 0.05),),
    ),
    Measure("M3", "subagents_waiting", "the same, each probed every 10 s", "cores_probing", "cores"),
    Measure("M3", "subagents_waiting", "CPU of a probe", "cpu_us_per_probe", "µs"),
    Measure(
        "M3",
        "subagents_waiting",
        "threads that 10,000 waiting runs add",
        "threads_added",
        "threads",
        (Target(Relation.AT_MOST, 2),),
    ),
    Measure(
        "M3",
        "subagents_waiting",
        "end of a run to resumed action, beyond the poll interval",
        "resumed_late_ms",
        "ms",
        (Target(Relation.AT_MOST, 100),),
    ),
    Measure(
        "M8",
        "subagents_together",
        "100 calls of 100 ms awaited together, 100 at once",
        "all_s",
        "s",
        (Target(Relation.AT_MOST, 1),),
    ),
    Measure("M8", "subagents_together", "the same, 10 at once", "ten_s", "s", (Target(Relation.AT_MOST, 2),)),
)
