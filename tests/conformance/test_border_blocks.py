"""What crosses the border as one block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flink_agents_subagent._engine.effects import Append, InputFinished, WriteMemory, WriteRunNumber
from flink_agents_subagent._flink.blobs import pack_blobs, unpack_blobs
from flink_agents_subagent._flink.effect_block import EffectBlock
from flink_agents_subagent._flink.input_block import InputBlock
from flink_agents_subagent._flink.port import NO_TIMESTAMP
from tests.conformance.vectors import vectors


@pytest.mark.parametrize(("given", "expect"), vectors("border-blocks"))
def test_blocks_have_their_pinned_form(given: dict[str, Any], expect: dict[str, Any]) -> None:
    """What one half writes, the other one reads: byte strings, inputs, effects [P6]."""
    (kind,) = given
    block = bytes.fromhex(expect["block"])

    match kind:
        case "blobs":
            parts = [bytes.fromhex(part) for part in given[kind]]
            assert pack_blobs(parts) == block
            assert list(unpack_blobs(block)) == parts
        case "inputs":
            assert _read(block) == given[kind]
        case "effects":
            assert _write(given[kind]) == block
        case _:
            pytest.fail(f"an unknown kind of block: {kind}")


def _read(block: bytes) -> dict[str, Any]:
    inputs = InputBlock(block)
    found = list(inputs)
    first_ticket = found[0][0]
    assert [ticket for ticket, *_ in found] == list(range(first_ticket, first_ticket + inputs.count))
    return {
        "now": inputs.now_ms,
        "first_ticket": first_ticket,
        "inputs": [
            {"key": key.hex(), "value": value.hex(), "timestamp": None if timestamp == NO_TIMESTAMP else timestamp}
            for _, key, value, timestamp in found
        ],
    }


def _write(effects: list[dict[str, Any]]) -> bytes | None:
    block = EffectBlock()
    writers: dict[str, Callable[..., None]] = {
        "emit": block.emit,
        "dead_letter": block.emit_dead_letter,
        "append": lambda **fields: block.append(Append(**fields)),
        "input_finished": lambda **fields: block.finish_input(InputFinished(**fields)),
        "write_memory": lambda key, path, value: block.write_memory(WriteMemory(key, {path: value})),
        "write_run_number": lambda **fields: block.write_run_number(WriteRunNumber(**fields)),
        "set_timer": block.set_timer,
        "leave_inputs": block.leave_inputs,
    }
    for effect in effects:
        fields = {
            name: bytes.fromhex(value) if name in ("key", "payload", "value") else value
            for name, value in effect.items()
            if name != "effect"
        }
        writers[effect["effect"]](**fields)
    return block.take()
