from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from flink_agents_subagent import (
    ActionError,
    DefinitionError,
)
from flink_agents_subagent.chat import (
    ChatRequestEvent,
    Tool,
)
from flink_agents_subagent.testing import ScriptedModel
from tests.unit.chat.models import agent_with, outputs_of


class Verdict(BaseModel):
    score: int
    why: str = ""


SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}


@pytest.mark.parametrize(
    ("schema", "answer", "expected"),
    [
        (Verdict, '{"score": 3}', Verdict(score=3)),
        (Verdict, '```json\n{"score": 3, "why": "so"}\n```', Verdict(score=3, why="so")),
        (SCHEMA, ' {"score": 3} ', {"score": 3}),
    ],
)
def test_an_answer_becomes_what_was_asked_for(schema: Any, answer: str, expected: Any) -> None:
    """An object of the class, or the value of the schema; the provider is told the schema [C2]."""
    model = ScriptedModel([answer])

    assert outputs_of(agent_with(model, output_schema=schema)) == [expected]
    assert model.requests[0].kwargs["output_schema"]["properties"]["score"]["type"] == "integer"


@pytest.mark.parametrize("schema", [Verdict, SCHEMA])
@pytest.mark.parametrize("wrong", ["three", '{"score": "many"}', "{}", '{"score": NaN}'])
def test_an_answer_that_does_not_fit_is_asked_for_once_more(schema: Any, wrong: str) -> None:
    """The model is told why; a second misfit is a failed response [C2, C3]."""
    model = ScriptedModel([wrong, '{"score": 3}'])

    (output,) = outputs_of(agent_with(model, output_schema=schema))
    (failed,) = outputs_of(agent_with([wrong, wrong], output_schema=schema))

    assert (output.score if schema is Verdict else output["score"]) == 3
    assert model.requests[1].messages[-1].content.startswith("Your answer does not fit the required JSON schema: ")
    assert failed.startswith("the model's answer does not fit the output schema: ")


@pytest.mark.parametrize("schema", ["text", {}, int, Tool])
def test_what_describes_no_answer_is_refused(schema: Any) -> None:
    """Where the request is made [C2]."""
    with pytest.raises(DefinitionError, match="output_schema is"):
        ChatRequestEvent(model="model", output_schema=schema)


def test_a_schema_that_is_none_is_the_authors_mistake() -> None:
    """It fails the action, not the model [C2]."""
    with pytest.raises(ActionError, match="output_schema is no JSON schema"):
        outputs_of(agent_with(["{}"], output_schema={"type": "nothing"}))
