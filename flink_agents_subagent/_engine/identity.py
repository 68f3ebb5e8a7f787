"""Identities: what a call is, and every id that derives from where an execution stands (E3.2, E5, D1–D3).

Pure functions. All parts are hashed with their length before them, so that no joined text can be read in two ways.
Pinned by `tests/vectors/identity`; a change of any derivation makes running jobs fail with a mismatch.
"""

from __future__ import annotations

import functools
import hashlib
import struct
import types
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flink_agents_subagent.errors import DefinitionError

__all__ = [
    "RunIdentity",
    "bound_arguments",
    "call_id",
    "derived_uuid",
    "event_id",
    "execution_digest",
    "function_id",
    "random_seed",
    "session_id",
    "subagent_digest",
]

_DIGEST_BYTES = 16
_u32 = struct.Struct(">I").pack


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """Which run of which operator of which job (E5.2)."""

    job_identifier: str
    operator_uid: str
    key: bytes
    run_number: int
    input_fingerprint: bytes


def execution_digest(run: RunIdentity, action: str, event_ordinal: int, scope: Sequence[str | int] = ()) -> bytes:
    """Return the 16 bytes that identify one action execution (E5.2).

    Guarantee: different for another job, operator, key, run, input, action, event or scope; equal on every replay.

    Args:
        run: The run that the execution belongs to.
        action: The action's name.
        event_ordinal: Position of the triggering event in the run, from 0.
        scope: Path of the internal sub-agent calls that the execution runs in; empty at the root.
    """
    return _digest(
        "execution",
        run.job_identifier,
        run.operator_uid,
        run.key,
        run.run_number,
        run.input_fingerprint,
        action,
        event_ordinal,
        len(scope),
        *scope,
    )


def event_id(digest: bytes, ordinal: int) -> str:
    """Return the globally unique id of the n-th event that an execution sent (E1.7)."""
    return _digest("event", digest, ordinal).hex()


def derived_uuid(digest: bytes, ordinal: int) -> uuid.UUID:
    """Return the n-th id of `ctx.uuid4()` in an execution: a version 4 UUID by its form (E2.5)."""
    return uuid.UUID(bytes=_digest("uuid", digest, ordinal), version=4)


def random_seed(digest: bytes) -> int:
    """Return the seed of `ctx.random()` (E2.5)."""
    return int.from_bytes(_digest("random", digest), "big")


def subagent_digest(digest: bytes, subagent: str) -> bytes:
    """Return the digest of an execution together with a sub-agent's name (D1)."""
    return _digest("subagent", digest, subagent)


def session_id(digest: bytes, ordinal: int) -> str:
    """Return the id of the n-th session that an execution opens with a sub-agent (D1); `digest` as of `subagent_digest`."""
    return f"{digest.hex()}-{ordinal}"


def call_id(session: str, ordinal: int, digest: bytes | None) -> str:
    """Return the id of the n-th call in a session, which is also its idempotency key (D2, D3).

    Guarantee: two executions that share a session never share a call id.

    Args:
        session: The session's id.
        ordinal: The call's position among the calls of this execution in the session.
        digest: As of `subagent_digest` when the caller supplied the session, None when the session was generated. A
            digest is 32 letters and an ordinal is fewer, so that the two forms never meet.
    """
    return f"{session}-{ordinal}" if digest is None else f"{session}-{digest.hex()}-{ordinal}"


def function_id(func: Callable[..., Any]) -> str:
    """Return the identity of a callable: `module:qualified name` (E3.2).

    Guarantee: the same in any process that runs the same code. A bound method is named by the type of its object, a
    `partial` by its inner function; lambdas and local functions of one place share a name, their slots tell them apart.

    Raises:
        DefinitionError: The callable has no name.
    """
    if type(func) is types.FunctionType and type(func.__module__) is str:
        # What most calls call, and what the rest of this function would say of it.
        return f"{func.__module__}:{func.__qualname__}"
    while isinstance(func, functools.partial):
        func = func.func
    name = getattr(func, "__qualname__", None)
    owner = getattr(func, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        cls = owner if isinstance(owner, type) else type(owner)
        method = getattr(func, "__name__", None)
        name = None if method is None else f"{cls.__qualname__}.{method}"
        return _identity(func, cls.__module__, name)
    return _identity(func, getattr(func, "__module__", None) or "builtins", name)


def bound_arguments(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments with those that a `partial` binds, as the inner function gets them (E3.2)."""
    positional, named = tuple(args), dict(kwargs)
    while isinstance(func, functools.partial):
        positional = func.args + positional
        named = {**func.keywords, **named}
        func = func.func
    return positional, named


def _identity(func: object, module: str, name: object) -> str:
    if not isinstance(name, str):
        raise DefinitionError(
            f"{func!r} has no name by which a replay could recognise it; give the call a `durable_id`"
        )
    return f"{module}:{name}"


def _digest(purpose: str, *parts: bytes | str | int) -> bytes:
    hasher = hashlib.blake2b(digest_size=_DIGEST_BYTES, person=b"fas-identity-1")
    for part in (purpose, *parts):
        # The kind of a part is hashed too: a scope may hold the number 1 or the text "1".
        if isinstance(part, bytes):
            data = b"b" + part
        elif isinstance(part, str):
            data = b"s" + part.encode("utf-8", "surrogatepass")
        else:
            data = b"i%d" % part
        hasher.update(_u32(len(data)) + data)
    return hasher.digest()
