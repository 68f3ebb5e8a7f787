"""Fields that several entries of a file have: texts, numbers, references. Owns their patterns; must not know which entries there are."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

__all__ = [
    "EMPTY",
    "EVENT",
    "WANTED",
    "Count",
    "Factor",
    "Given",
    "JavaClass",
    "Name",
    "Reference",
    "RetryEntry",
    "Seconds",
    "Shape",
]

EMPTY = "empty"
"""Type of the error of a key without a value."""

TEXT = r"\S"
REFERENCE = r"^[^\s:]+:[^\s:]+$"
EVENT = r"^(InputEvent|[^\s:]+:[^\s:]+)$"
JAVA_CLASS = r"^[^\s:]+$"

WANTED = {
    TEXT: "a text that is not blank",
    REFERENCE: "module:name, as in shop.actions:book",
    EVENT: "InputEvent, or module:Class of an event of your own",
    JAVA_CLASS: "the full name of a Java class, as in com.acme.Pricer",
}
"""What the text of each pattern should be."""


def _refuse_nothing(value: Any) -> Any:
    if value is None:
        raise PydanticCustomError(EMPTY, "is empty")
    return value


Given = BeforeValidator(_refuse_nothing)
Name = Annotated[str, Field(pattern=TEXT)]
Reference: TypeAlias = Annotated[str, Field(pattern=REFERENCE, examples=["shop.actions:book"])]
Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Factor = Annotated[float, Field(ge=1, allow_inf_nan=False)]
JavaClass = Annotated[str, Field(pattern=JAVA_CLASS)]


class Shape(BaseModel):
    """Base of all entries: no key that is not known, no conversion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RetryEntry(Shape):
    """How calls are repeated; what is left out is that of RetryPolicy."""

    max_attempts: Annotated[Count | None, Given] = Field(None, description="Attempts in all.")
    initial: Annotated[Seconds | None, Given] = Field(None, description="Seconds after the first failed attempt.")
    factor: Annotated[Factor | None, Given] = Field(None, description="Growth of the pause.")
    max_interval: Annotated[Seconds | None, Given] = Field(None, description="Seconds of the longest pause.")
    retry_on: Annotated[list[Reference] | None, Given] = Field(
        None, min_length=1, description="Classes of exceptions.", examples=[["builtins:ConnectionError"]]
    )
