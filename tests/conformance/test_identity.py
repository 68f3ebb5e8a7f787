"""The golden vectors of identities."""

from __future__ import annotations

from typing import Any

import pytest

from flink_agents_subagent._engine import identity
from tests.conformance.vectors import vectors


def _execution(given: dict[str, Any]) -> str:
    run = identity.RunIdentity(
        given["job_identifier"],
        given["operator_uid"],
        bytes.fromhex(given["key"]),
        given["run_number"],
        bytes.fromhex(given["input_fingerprint"]),
    )
    return identity.execution_digest(run, given["action"], given["event_ordinal"], given["scope"]).hex()


def _call(given: dict[str, Any]) -> str:
    digest = given["digest"]
    return identity.call_id(given["session"], given["ordinal"], None if digest is None else bytes.fromhex(digest))


_DERIVATIONS = {
    "execution": _execution,
    "event": lambda given: identity.event_id(bytes.fromhex(given["digest"]), given["ordinal"]),
    "uuid": lambda given: str(identity.derived_uuid(bytes.fromhex(given["digest"]), given["ordinal"])),
    "random": lambda given: str(identity.random_seed(bytes.fromhex(given["digest"]))),
    "subagent": lambda given: identity.subagent_digest(bytes.fromhex(given["digest"]), given["name"]).hex(),
    "session": lambda given: identity.session_id(bytes.fromhex(given["digest"]), given["ordinal"]),
    "call": _call,
}


@pytest.mark.parametrize(("given", "expected"), vectors("identity"))
def test_a_derivation_never_changes(given: dict[str, Any], expected: str) -> None:
    """Every id derives as in every release [E5.2, E5.3, E1.7, E2.5, D1, D2, D3]."""
    assert _DERIVATIONS[given["derive"]](given) == expected


def test_what_differs_has_another_digest() -> None:
    """Job, operator, key, run, input, action, event and scope each change the digest [E5.2]."""
    digests = [case.values[1] for case in vectors("identity") if case.values[0]["derive"] == "execution"]

    assert len(set(digests)) == len(digests) == 13
