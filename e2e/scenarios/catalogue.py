"""Every scenario. Data only."""

from __future__ import annotations

from collections.abc import Mapping

from e2e.scenarios.model import (
    BrokerAway,
    Crash,
    Inject,
    Kill,
    KillWhileBrokerSilent,
    Orders,
    Orphan,
    Reject,
    Reorder,
    RestartJobManager,
    Resume,
    Scenario,
    Zombie,
)

__all__ = ["SCENARIOS"]

_IMPATIENT = {
    "store.kafka.properties.delivery.timeout.ms": "5000",
    "store.kafka.properties.request.timeout.ms": "3000",
    "store.kafka.properties.default.api.timeout.ms": "10000",
}

_MANUAL = 3_600_000
"""Checkpoints only where a step takes one, so that much lies in the tail."""

_KILLS = (
    Scenario(
        "killed-at-random",
        "E3.6, E4.2, E4.3, E4.5, E5.3, S1.1, S1.3",
        (Kill((0.1, 0.45)), Kill((0.55, 0.9))),
    ),
    Scenario(
        "killed-at-random-embedded",
        "E4.3, S1.1, S1.3, S3.1",
        (Kill((0.1, 0.45)), Kill((0.55, 0.9))),
        store="embedded",
    ),
    Scenario(
        "killed-around-appends",
        "E2.2, E3.6, S1.1",
        (Crash(("before-append:25", "after-append:20", "before-acknowledgement:15", "after-acknowledgement:15")),),
    ),
    Scenario(
        "killed-around-calls",
        "E3.1, E3.6, E5.3",
        (Crash(("before-call-start:30", "after-call-start:25", "before-call-end:20", "after-call-end:20")),),
    ),
    Scenario(
        "killed-at-a-record-and-a-call",
        "E2.2, E3.6, S1.1",
        (Crash(("before-acknowledgement:10", "before-call-end:10")),),
        is_short=True,
    ),
    Scenario(
        "killed-around-checkpoints",
        "E4.1, E4.2, E6.2, S1.8, S2.5",
        (Crash(("before-snapshot:2", "after-snapshot:1", "before-release:1", "after-release:1")),),
        # Inputs for longer than four lives of two checkpoints take.
        orders=Orders(per_second=8),
    ),
    Scenario(
        "killed-while-opening",
        "E4.3, S1.3, S1.5",
        (Crash(("after-append:25", "before-open:1", "after-open:1")),),
    ),
    Scenario(
        "jobmanager-restarted",
        "E4.2, E5.1, S1.8",
        (RestartJobManager((0.2, 0.5)),),
        # So that there is something left to do when the old attempt has noticed.
        orders=Orders(per_second=10),
    ),
    Scenario(
        "zombie",
        "S1.2, S1.5",
        (Zombie(0.3),),
        # All inputs are there before the pause, so that the zombie holds nothing but calls in flight.
        orders=Orders(count=60, per_second=1000),
    ),
    Scenario(
        "orphan",
        "S1.1, S1.2, S1.5",
        (Orphan(0.3),),
        orders=Orders(per_second=10),
    ),
    Scenario(
        "slow-rebuild",
        "E4.3, S1.3",
        (Kill(0.7, throttle=20_000),),
        checkpoint_ms=_MANUAL,
    ),
)

_BROKER = (
    Scenario(
        "killed-while-broker-silent",
        "E2.2, E3.6, S1.1",
        (KillWhileBrokerSilent(0.4),),
        # Inputs of idle keys come while the broker is silent; the first thing that their runs append is an intent.
        # A checkpoint would keep it as well, so there is none.
        orders=Orders(key_count=40, per_second=15),
        checkpoint_ms=_MANUAL,
        code="c-first",
        is_short=True,
    ),
    Scenario("broker-stopped", "S1.1, S2.3", (BrokerAway(0.4, "stop", 3),), repeats="none"),
    Scenario("broker-killed", "S1.1, S2.3", (BrokerAway(0.4, "kill", 3),), repeats="none"),
    Scenario("broker-paused", "S1.1, S2.3", (BrokerAway(0.4, "pause", 30),), repeats="none"),
    Scenario(
        "append-too-large",
        "E3.13, S1.1, S2.3",
        (Reject(0.2, "too large", r"max\.message\.bytes.*journal\.max-record-bytes"),),
        orders=Orders(padding=20_000),
    ),
    Scenario(
        "append-not-permitted",
        "S1.1, S2.1",
        (Reject(0.3, "no permission", r"Write"),),
    ),
    Scenario(
        "append-without-replicas",
        "S1.1, S2.3",
        (Reject(0.3, "too few replicas", r"1 replicas in sync, min\.insync\.replicas is 2"),),
        brokers=2,
        options={**_IMPATIENT, "store.kafka.replication-factor": "2"},
    ),
    Scenario(
        "torn-and-foreign-records",
        "S1.4",
        (Inject(0.2),),
        orders=Orders(per_second=8),
        checkpoint_ms=_MANUAL,
    ),
    Scenario(
        "two-jobs-on-one-topic",
        "S1.6, S2.5",
        (Kill(0.4), Kill(0.7)),
        # The first is not to be done before the second begins.
        orders=Orders(count=60, per_second=2.5),
        jobs=2,
    ),
)

_INPUTS = (
    Scenario(
        "odd-keys",
        "S1.7, E4.3",
        (Kill((0.2, 0.4)), Kill((0.6, 0.8))),
        orders=Orders(keys="odd"),
    ),
    Scenario(
        "identical-inputs",
        "E4.4, E5.2, E5.3",
        (Kill((0.2, 0.4)), Kill((0.6, 0.8))),
        orders=Orders(is_identical=True),
    ),
    Scenario(
        "inputs-reordered",
        "E4.4",
        (Reorder(0.75),),
        checkpoint_ms=_MANUAL,
    ),
)

# Behind the end of a bounded input no checkpoint passes before the last run has ended, and here some are held. So inputs are left when
# the job is stopped, also on a machine that takes long to start an operator.
_LONG = Orders(per_second=5)

_CHANGES = (
    Scenario(
        "rescaled",
        "E4.7, E4.8",
        (Resume(0.3, parallelism=2), Resume(0.6, parallelism=1)),
        orders=_LONG,
        parallelism=1,
        is_short=True,
    ),
    Scenario("code-compatible", "E4.8", (Resume(0.4, code="compatible"),), orders=_LONG),
    Scenario("code-patched", "E3.8, E4.8", (Resume(0.4, code="patched"),), orders=_LONG),
    Scenario(
        "code-incompatible",
        "E3.7, E4.8",
        (Resume(0.4, code="incompatible", fails_with=r"ReplayMismatchError.*\bb:.*\bx:"),),
        orders=_LONG,
        # In another subtask there might be no run that the change concerns, and others would go on.
        parallelism=1,
    ),
)

SCENARIOS: Mapping[str, Scenario] = {scenario.name: scenario for scenario in (*_KILLS, *_BROKER, *_INPUTS, *_CHANGES)}
