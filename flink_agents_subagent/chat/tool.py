"""Tools: functions that a chat model may call (C1). Owns their schema and the check of arguments; must not know contexts or journals."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, TypeVar, get_args, get_origin, overload

from docstring_parser import parse
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import get_type_hints

from flink_agents_subagent.chat.message import ToolMetadata
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.resources import DeclaredResource, Resource, ResourceType, declare_resource
from flink_agents_subagent.subagents.times import milliseconds

__all__ = ["CALLABLE_NAME", "FromConfig", "FromMemory", "Tool", "ToolMisfit", "check_tool_name", "tool"]

F = TypeVar("F", bound="Callable[..., Any] | staticmethod[..., Any]")

CALLABLE_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_RESERVED = ("subagent_", "_subagent_")


@dataclass(frozen=True, slots=True)
class FromConfig:
    """Fills an argument from the `tool_config` of the chat model: `Annotated[str, FromConfig("tenant")]`. The model does not see it."""

    name: str


@dataclass(frozen=True, slots=True)
class FromMemory:
    """Fills an argument from short-term memory, as it is at the call: `Annotated[int, FromMemory("customer.id")]`. The model does not see it."""

    path: str


Injected = FromConfig | FromMemory


class ToolMisfit(Exception):  # noqa: N818 - becomes the answer to the model; no author meets it
    """Arguments do not fit a tool; the text tells the model why."""


class _Parameter:
    """One argument of a tool: its type as it was resolved where the tool was made."""

    def __init__(self, name: str, hint: Any, default: Any, description: str | None) -> None:
        self.name = name
        self.hint = hint
        self.default = default
        self.description = description
        marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        self.injected: Injected | None = next((it for it in marks if isinstance(it, FromConfig | FromMemory)), None)
        self.is_needed = default is inspect.Parameter.empty
        self.has_own_description = any(isinstance(it, FieldInfo) and it.description for it in marks)

    def field(self) -> Any:
        """Return the field of the arguments' model; the alias keeps names such as `copy` from meaning something else there."""
        default = ... if self.is_needed else self.default
        if self.description is None or self.has_own_description:
            return (self.hint, Field(default, alias=self.name))
        return (self.hint, Field(default, alias=self.name, description=self.description))


class Tool(Resource):
    """A function that a chat model may call; a resource of type `TOOL`. The model knows it by the resource's name.

    Guarantee: each call is a durable call of its own; exceptions, time-outs and arguments that do not fit are answered to the model
        with the reason, and the job goes on.
    Replay: a recorded answer is given back without a call.
    Thread: a `def` function runs on a worker thread, an `async def` one on the background loop; neither may use the context.
    """

    _arguments: type[BaseModel] | None = None

    def __init__(
        self,
        func: Callable[..., Any],
        *,
        description: str | None = None,
        timeout: timedelta | float | None = None,
    ) -> None:
        """Use `Tool.from_callable`."""
        shown = getattr(func, "__qualname__", repr(func))
        given: object = func
        if not callable(given) or isinstance(given, type | functools.partial):
            raise DefinitionError(f"a tool is made of a function, not {func!r}; write one with def that calls this")
        self._func = func
        self._timeout_ms = milliseconds(timeout)
        documented = parse(inspect.getdoc(func) or "")
        self.description: str = description or "\n".join(
            filter(None, (documented.short_description, documented.long_description))
        )
        if not self.description.strip():
            raise DefinitionError(
                f"tool {shown} has no description, so that no model could know when to call it; "
                "give the function a docstring, or pass description"
            )
        texts = {it.arg_name: it.description for it in documented.params}
        self._parameters = [_Parameter(*it, texts.get(it[0])) for it in _signature_of(func, shown)]
        self.input_schema: Mapping[str, Any] = self._schema(shown)

    @classmethod
    def from_callable(
        cls,
        func: Callable[..., Any],
        *,
        description: str | None = None,
        timeout: timedelta | float | None = None,
    ) -> Tool:
        """Make a tool of a function, whose signature, type hints and docstring say what the model has to give.

        Args:
            func: `def` or `async def`, with type hints. What it returns is a JSON value, a pydantic object, a dataclass or a `ToolResponse`.
            description: For the model; None: the docstring, without its section on arguments.
            timeout: Seconds or a timedelta; None: what the chat model and the option `tool-call.timeout` say.

        Raises:
            DefinitionError: The function has no description, an argument has no type, or a type has no JSON schema.
        """
        return cls(func, description=description, timeout=timeout)

    @property
    def metadata(self) -> ToolMetadata:
        """What a model is told."""
        return ToolMetadata(self.name, self.description, self.input_schema)

    @property
    def timeout_ms(self) -> int | None:
        """The tool's own time-out in milliseconds."""
        return self._timeout_ms

    @property
    def is_coroutine(self) -> bool:
        """Whether it runs on the background loop."""
        func = self._func
        return inspect.iscoroutinefunction(func) or inspect.iscoroutinefunction(getattr(func, "__call__", None))  # noqa: B004 - the method itself is looked at

    @property
    def injected(self) -> Mapping[str, Injected]:
        """The arguments that the model does not give."""
        return {it.name: it.injected for it in self._parameters if it.injected is not None}

    def has_default(self, argument: str) -> bool:
        """Tell whether the function can do without the argument."""
        return any(it.name == argument and not it.is_needed for it in self._parameters)

    def bind(self, arguments: Mapping[str, Any], injected: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as the function takes them.

        Args:
            arguments: What the model gave.
            injected: Values of `injected` arguments; those that are left out have their default.

        Raises:
            ToolMisfit: They do not fit the types; says which.
        """
        try:
            model = self._model().model_validate(arguments)
            given = [it for it in self._parameters if it.injected is None]
            bound = {it.name: getattr(model, f"argument_{place}") for place, it in enumerate(given)}
            for it in self._parameters:
                if it.name in injected:
                    bound[it.name] = TypeAdapter(it.hint).validate_python(injected[it.name])
        except ValidationError as error:
            raise ToolMisfit(f"the arguments do not fit: {_told(error)}") from error
        return bound

    def call(self, arguments: Mapping[str, Any]) -> Any | Awaitable[Any]:
        """Call the function with arguments that `bind` returned."""
        return self._func(**arguments)

    def _model(self) -> type[BaseModel]:
        if self._arguments is None:
            given = [it for it in self._parameters if it.injected is None]
            fields = {f"argument_{place}": it.field() for place, it in enumerate(given)}
            self._arguments = create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)
        return self._arguments

    def _schema(self, shown: str) -> Mapping[str, Any]:
        try:
            schema = self._model().model_json_schema(schema_generator=_Schema)
            for it in self._parameters:
                if it.injected is not None:
                    TypeAdapter(it.hint)
        except (PydanticUserError, TypeError) as error:
            raise DefinitionError(
                f"the arguments of tool {shown} have no JSON schema: {error}. Use JSON types, pydantic models or dataclasses"
            ) from error
        schema.pop("title", None)
        return schema

    def __getstate__(self) -> dict[str, Any]:
        # Made again where it is needed: a class that was made here cannot be found there.
        return {name: value for name, value in self.__dict__.items() if name != "_arguments"}


class _Schema(GenerateJsonSchema):
    """Leaves out what tells a model nothing."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - pydantic's own attribute

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Leave titles out: they repeat the name."""
        del schema
        return False


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(*, description: str | None = None, timeout: timedelta | float | None = None) -> Callable[[F], F]: ...
def tool(function: Any = None, /, *, description: str | None = None, timeout: timedelta | float | None = None) -> Any:
    """Make a method of an `Agent` class a tool of its agents, under the method's name.

    The same as `add_resource(name, ResourceType.TOOL, Tool.from_callable(method))`; the method can still be called. Arguments as for
    `Tool.from_callable`.
    """

    def mark(marked: Any) -> Any:
        def make(function: Callable[..., Any]) -> Tool:
            return Tool.from_callable(function, description=description, timeout=timeout)

        declare_resource(marked, DeclaredResource(ResourceType.TOOL, make))
        return marked

    return mark if function is None else mark(function)


def check_tool_name(name: str) -> None:
    """Refuse a name under which a model could not call a tool, or would mean a sub-agent (T6).

    Raises:
        DefinitionError: Names the tool and the rule.
    """
    if name.startswith(_RESERVED):
        raise DefinitionError(
            f"tool {name!r} begins with {'_subagent_' if name.startswith('_') else 'subagent_'!r}, which tells sub-agents from tools; "
            "give it another name"
        )
    if not CALLABLE_NAME.fullmatch(name):
        raise DefinitionError(
            f"tool {name!r} has a name that providers refuse; use 1 to 64 of the letters a-z and A-Z, digits, _ and -"
        )


def _signature_of(func: Callable[..., Any], shown: str) -> list[tuple[str, Any, Any]]:
    """Return name, type and default of each argument."""
    called = func if inspect.isroutine(func) else type(func).__call__
    try:
        signature = inspect.signature(func)
        hints = get_type_hints(called, include_extras=True)
    except (NameError, TypeError, ValueError) as error:
        raise DefinitionError(
            f"the signature of tool {shown} cannot be read: {error}. Its types have to exist where the function is defined"
        ) from error
    for parameter in signature.parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise DefinitionError(
                f"tool {shown} takes {parameter}; a model gives arguments by name, so that each needs one of its own"
            )
        if parameter.name not in hints:
            raise DefinitionError(
                f"argument {parameter.name!r} of tool {shown} has no type hint; a model needs its type"
            )
    return [(it.name, hints[it.name], it.default) for it in signature.parameters.values()]


def _told(error: ValidationError) -> str:
    several = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in several[:5])
