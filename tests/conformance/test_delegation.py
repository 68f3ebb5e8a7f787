"""What a chat model is offered and told of sub-agents: data, the same in every process."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from flink_agents_subagent import BaseDeferredSubagentSetup, DefinitionError, SubagentRequest, SubagentResult
from flink_agents_subagent.chat.delegation import response_of
from flink_agents_subagent.chat.response import content_of
from tests.conformance.vectors import vectors


class Person(BaseModel):
    name: str
    age: int = 0


class Ratio(BaseModel):
    ratio: float


class Tree(BaseModel):
    children: list[Tree] = []


class Foreign:
    """No type that a schema could be made of."""


TYPES: dict[str, Any] = {
    "str": str,
    "int": int,
    "Person": Person,
    "Ratio": Ratio,
    "Tree": Tree,
    "Foreign": Foreign,
    "list[Person]": list[Person],
    "dict[str, int]": dict[str, int],
    "dict[str, Tree]": dict[str, Tree],
}


class Helper(BaseDeferredSubagentSetup):
    """Is described by the vectors."""

    def call(self, request: SubagentRequest) -> Any:
        """Answer."""
        return request.prompt


@pytest.mark.parametrize(("given", "expected"), vectors("delegation-schemas"))
def test_a_subagent_is_offered_with_its_schema_or_refused(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """An explicit schema wins, a type gives its own; what cannot be offered is refused with the remedy [T4, T13]."""
    described = {name: TYPES[value] if name == "input_type" else value for name, value in given.items()}

    if "error" in expected:
        with pytest.raises(DefinitionError) as caught:
            Helper(**described)
        assert expected["error"] in str(caught.value)
    else:
        assert Helper(**described).offered_schema() == expected["schema"]


@pytest.mark.parametrize(("given", "expected"), vectors("delegation-results"))
def test_a_result_reaches_the_model(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Narrowed to the declared type, or refused with the path [T8, T9]."""
    failed = given.get("failed")
    result = SubagentResult.ok(_value(given.get("result"))) if failed is None else SubagentResult.error(failed)

    response = response_of(result, TYPES.get(given.get("result_type", "")))

    if "error" in expected:
        assert (response.is_success, expected["error"] in str(response.error_message)) == (False, True)
    else:
        assert (response.is_success, response.text) == (True, expected["content"])


def _value(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_value(item) for item in tree]
    if isinstance(tree, dict):
        return float(tree["$float"]) if tree.keys() == {"$float"} else {name: _value(it) for name, it in tree.items()}
    return tree


@pytest.mark.parametrize(("given", "expected"), vectors("delegation-content"))
def test_a_value_is_told_as_text(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Texts as they are, everything else as compact JSON with sorted keys [T14]."""
    assert content_of(given["value"]) == expected["content"]
