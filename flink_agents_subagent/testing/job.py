"""From an author's agent to what a local process runs, and back to what an author reads."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import cloudpickle

from flink_agents_subagent._engine.encoding import ValueCodec, key_bytes, key_value
from flink_agents_subagent._engine.memory import MemoryBuffer, MemoryView
from flink_agents_subagent._engine.settings import EngineSettings
from flink_agents_subagent._plan import compile_agent
from flink_agents_subagent.agent import Agent
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.memory import MemoryObject
from flink_agents_subagent.options import resolve_options
from flink_agents_subagent.testing.element import Output, SourceInput
from flink_agents_subagent.testing.process import Job
from flink_agents_subagent.testing.result import LocalCall, LocalOutput
from flink_agents_subagent.testing.state import KeyedState
from flink_agents_subagent.testing.world import Invocation

__all__ = ["LocalInput", "calls_of", "make_job", "memory_of", "outputs_of", "source_of"]

LocalInput: TypeAlias = tuple[Any, Any] | tuple[Any, Any, int | None]
"""Key and value, and the timestamp in milliseconds if there is one."""


def make_job(agent: Agent, options: Mapping[str, Any] | None) -> Job:
    """Compile an agent; its resources are built and not opened.

    Raises:
        DefinitionError: The agent or an option is wrong.
    """
    compiled = compile_agent(agent)
    resolved: dict[str, Any] = resolve_options(options or {})
    job_identifier = resolved["job-identifier"] or "local"
    settings = EngineSettings.from_options(job_identifier, f"agent-{agent.name}", resolved)
    return Job(compiled, settings, pickle.loads, copy.deepcopy)


def source_of(inputs: Iterable[LocalInput]) -> list[SourceInput]:
    """Return the elements of a source.

    Raises:
        DefinitionError: An input is no pair of key and value.
        NotExpressibleError: A key has a type that a key cannot have.
    """
    return [_element(number, given) for number, given in enumerate(inputs)]


def _element(number: int, given: LocalInput) -> SourceInput:
    if not isinstance(given, tuple) or len(given) not in (2, 3):  # type: ignore[redundant-expr]  # what authors pass
        raise DefinitionError(f"input {number} is {given!r}; give (key, value) or (key, value, timestamp in ms)")
    key, value, *timestamp = given
    return SourceInput(number, key_bytes(key), cloudpickle.dumps(value), timestamp[0] if timestamp else None)


def outputs_of(outputs: Iterable[Output], *, dead_letters: bool) -> list[LocalOutput]:
    """Return outputs, or dead letters, with their keys as authors know them."""
    return [
        LocalOutput(key_value(output.key), output.value, output.timestamp)
        for output in outputs
        if output.is_dead_letter is dead_letters
    ]


def calls_of(invocations: Iterable[Invocation]) -> list[LocalCall]:
    """Return the calls that were made."""
    return [_call(invocation) for invocation in invocations]


def _call(invocation: Invocation) -> LocalCall:
    origin = invocation.origin
    return LocalCall(
        name=invocation.name,
        key=None if origin is None else key_value(origin.key),
        value=invocation.value,
        error=invocation.error,
        is_cancelled=invocation.is_cancelled,
        attempt=1 if origin is None else origin.attempt,
        is_reconciler=origin is not None and origin.is_reconciler,
    )


def memory_of(job: Job, state: KeyedState) -> dict[Any, dict[str, Any]]:
    """Return the short-term memory of each key that has any."""
    codec = job.codec
    trees = {key_value(key): _tree(codec, entries) for key, entries in state.memory.items()}
    return {key: tree for key, tree in trees.items() if tree}


def _tree(codec: ValueCodec, entries: Mapping[str, bytes]) -> dict[str, Any]:
    return _fields(MemoryView(MemoryBuffer(codec, entries.get, {}), "", lambda: None))


def _fields(memory: MemoryObject) -> dict[str, Any]:
    return {
        name: _fields(value) if isinstance(value, MemoryObject) else value
        for name, value in memory.get_fields().items()
    }
