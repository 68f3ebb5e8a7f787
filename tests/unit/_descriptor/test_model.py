"""The JSON schema: what it says is what the loader takes."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from flink_agents_subagent import ResourceType
from flink_agents_subagent._descriptor.model import ResourceEntry, render_schema
from flink_agents_subagent.options import OPTIONS

_SCHEMA = files("flink_agents_subagent").joinpath("schema/agent.schema.json").read_text(encoding="utf-8")
_AGENT = {"name": "a", "actions": [{"function": "m:f", "events": ["InputEvent", "m:E"]}]}


def is_valid(value: Any) -> bool:
    """Ask the schema."""
    return bool(jsonschema.Draft202012Validator(json.loads(_SCHEMA)).is_valid(value))


def test_the_schema_in_the_package_is_that_of_the_models() -> None:
    """`python scripts/write_schema.py` rewrites it [R1]."""
    assert json.loads(_SCHEMA) == json.loads(render_schema())


def test_the_schema_is_one() -> None:
    """It follows the dialect that it names."""
    jsonschema.Draft202012Validator.check_schema(json.loads(_SCHEMA))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"agents": [_AGENT]}, True),
        ({"agents": []}, False),
        ({"agents": [_AGENT], "chat_model": []}, False),
        ({"agents": [{"name": "a"}]}, False),
        ({"agents": [{"name": "a", "react": {"chat_model": "m", "output_type": "m:T"}}]}, True),
        ({"agents": [{"name": "a", "react": {"chat_model": "m", "model": "x"}}]}, False),
        ({"agents": [_AGENT], "chat_models": [{"name": "m", "connection": "c", "model": "x", "tools": ["t"]}]}, True),
        ({"agents": [_AGENT], "chat_models": [{"name": "m", "connection": "c"}]}, False),
        ({"agents": [_AGENT], "chat_model_connections": [{"name": "c", "class": "m:C", "args": {"a": 1}}]}, True),
        ({"agents": [_AGENT], "tools": [{"function": "m:f", "timeout": 2}]}, True),
        ({"agents": [_AGENT], "prompts": [{"name": "p", "text": "t"}]}, True),
        ({"agents": [_AGENT], "prompts": [{"name": "p", "messages": [{"role": "user", "content": "t"}]}]}, True),
        ({"agents": [_AGENT], "prompts": [{"name": "p"}]}, False),
        ({"agents": [{**_AGENT, "subagents": [{"name": "s", "agent": "b"}]}]}, True),
        ({"agents": [{**_AGENT, "subagents": [{"name": "s", "agent": "b", "class": "m:C"}]}]}, False),
        ({"agents": [{**_AGENT, "actions": []}]}, False),
        ({"agents": [{**_AGENT, "name": " "}]}, False),
        ({"agents": [{**_AGENT, "actions": [{"function": "m.f"}]}]}, False),
        ({"agents": [{**_AGENT, "actions": [{"function": "m:f", "where": None}]}]}, False),
        ({"agents": [{**_AGENT, "subagents": [{"name": "s", "class": "m:C", "args": {"any": [1, None]}}]}]}, True),
        ({"agents": [{**_AGENT, "subagents": [{"name": "s", "java": "com.acme.Pricer", "result_type": "m:Q"}]}]}, True),
        ({"agents": [{**_AGENT, "subagents": [{"name": "s"}]}]}, False),
        ({"agents": [{**_AGENT, "subagents": [{"name": "s", "java": "a.B", "class": "m:C"}]}]}, False),
        ({"agents": [{**_AGENT, "resources": [{"name": "s", "type": "agent", "class": "m:C"}]}]}, False),
        ({"agents": [_AGENT], "options": {"call-threads": 3, "log-keys": True}}, True),
        ({"agents": [_AGENT], "options": {"store.kafka.properties.security.protocol": "SSL"}}, True),
        ({"agents": [_AGENT], "options": {"call-treads": 3}}, False),
        ({"agents": [_AGENT], "options": {"on-action-error": "ignore"}}, False),
    ],
)
def test_an_editor_with_the_schema_sees_what_the_loader_sees(value: Any, expected: bool) -> None:
    """Unknown keys, types, texts and options are refused by the schema already [R2]."""
    assert is_valid(value) is expected


def test_every_option_is_in_the_schema() -> None:
    """With its text, so that an editor can show it."""
    options = json.loads(_SCHEMA)["properties"]["options"]

    assert {*options["properties"]} == {name for name in OPTIONS if not name.endswith("*")}
    assert all(option["description"] for option in options["properties"].values())


def test_the_types_of_resources_are_those_of_the_api() -> None:
    """All but sub-agents, which have a list of their own [R1]."""
    types = ResourceEntry.model_json_schema()["properties"]["type"]["enum"]

    assert sorted(types) == sorted(kind.value for kind in ResourceType if kind is not ResourceType.AGENT)


def test_the_schema_reads_yaml_as_the_loader_does() -> None:
    """An example with all keys passes."""
    text = """\
        options: {on-action-error: dead-letter}
        subagents: [{name: s, class: m:C, input_type: m:I}]
        resources: [{name: r, type: tool, class: m:C, args: {a: 1}}]
        agents:
          - name: a
            actions: [{function: m:f, name: n, events: [InputEvent], where: m:w, config: {a: [b]}}]
            resources: []
            subagents: []
    """

    assert is_valid(YAML(typ="safe").load(text))
