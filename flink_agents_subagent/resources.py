"""Resources: everything that an agent finds by name and type. Owns the kinds, the descriptor and what a resource must be; must not know how resources are opened."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, get_args, get_origin

from typing_extensions import Unpack, get_type_hints

from flink_agents_subagent.errors import ContextMisuseError, DefinitionError

__all__ = [
    "DeclaredResource",
    "Resource",
    "ResourceDescriptor",
    "ResourceType",
    "check_resource",
    "declare_resource",
    "declared_resource",
    "parameters_of",
]

_MARK = "__flink_agents_resource__"


class ResourceType(str, enum.Enum):
    """The kinds of resource; a name is unique within a kind (R2)."""

    AGENT = "agent"
    CHAT_MODEL = "chat_model"
    CHAT_MODEL_CONNECTION = "chat_model_connection"
    PROMPT = "prompt"
    TOOL = "tool"
    OBJECT = "object"


class ResourceDescriptor:
    """A resource described by class and arguments; built where it runs, once per subtask.

    Guarantee: `clazz(**arguments)` is called once per subtask, before first use.
    Thread: task thread.
    """

    __slots__ = ("arguments", "clazz")

    def __init__(self, *, clazz: type[Any] | str, **arguments: Any) -> None:
        """Describe `clazz(**arguments)`; `clazz` may be the text `module:QualifiedName`."""
        self.clazz = clazz
        self.arguments = arguments

    def __repr__(self) -> str:
        name = self.clazz if isinstance(self.clazz, str) else f"{self.clazz.__module__}:{self.clazz.__qualname__}"
        return f"ResourceDescriptor({name})"


class Resource:
    """Base of resources that must know their name, or have something to acquire and release.

    Guarantee: `open` is called once per subtask before first use, in the order of declaration; `close` once at shutdown, in
        reverse order, also when `open` failed (R3).
    Thread: task thread when `open` and `close` are plain methods; when they are `async`, the background loop that also
        runs the coroutine calls, so that a client made there may be used by them.
    """

    _name: str | None = None

    @property
    def name(self) -> str:
        """The name under which the resource is registered.

        Raises:
            ContextMisuseError: It was not registered.
        """
        if self._name is None:
            raise ContextMisuseError(
                f"this {type(self).__qualname__} is not registered as a resource; "
                "add it with add_resource(name, type, ...) and get it from the context"
            )
        return self._name

    def bind_name(self, name: str) -> None:
        """Take the name under which the resource is registered; called by the framework before `open`."""
        self._name = name

    def bind_resources(self, find: Callable[[str, ResourceType], Any]) -> None:
        """Take the way to the other resources that it may use; called by the framework before `open`, when all are built.

        Args:
            find: Returns the resource of a name and type; raises `DefinitionError` naming those that there are.
        """

    def open(self) -> Awaitable[None] | None:
        """Acquire what is needed; may be `async`."""
        return None

    def close(self) -> Awaitable[None] | None:
        """Release what `open` acquired; may be `async`. Copes with an `open` that failed half-way."""
        return None


class DeclaredResource(NamedTuple):
    """What a decorator makes of a method: a resource under the method's name."""

    type: ResourceType
    make: Callable[[Callable[..., Any]], Any]
    """Given the method of an agent, returns the resource."""


def declare_resource(function: Any, declared: DeclaredResource) -> None:
    """Keep on a function or static method of an agent class that it is a resource.

    Raises:
        DefinitionError: It is no function, or is a resource already.
    """
    target = getattr(function, "__func__", function)
    name = getattr(target, "__qualname__", repr(target))
    if not inspect.isfunction(target):
        raise DefinitionError(f"@{declared.type.value} marks functions and methods, and {name} is none")
    if declared_resource(target) is not None:
        raise DefinitionError(f"{name} is declared as a resource twice; one decorator is enough")
    setattr(target, _MARK, declared)


def declared_resource(function: Any) -> DeclaredResource | None:
    """Return what a decorator kept on a function, a static method or a method; None when it is no resource."""
    found = getattr(getattr(function, "__func__", function), _MARK, None)
    return found if isinstance(found, DeclaredResource) else None


class ConstructorParameters(NamedTuple):
    """What a constructor takes by name."""

    needed: list[str]
    known: list[str]
    takes_any: bool
    """Whether others are handed on to somewhere."""


def parameters_of(clazz: type[Any]) -> ConstructorParameters:
    """Return what the constructor of a class takes.

    Raises:
        ValueError: A built-in class does not tell.
    """
    several = inspect.signature(clazz).parameters.values()
    by_name = [one for one in several if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]
    needed = [one.name for one in by_name if one.default is one.empty]
    rest = next((one.name for one in several if one.kind is one.VAR_KEYWORD), None)
    listed = None if rest is None else _listed(clazz, rest)
    return ConstructorParameters(
        needed, [*(one.name for one in by_name), *(listed or ())], takes_any=rest is not None and listed is None
    )


def _listed(clazz: type[Any], parameter: str) -> list[str] | None:
    """Return the names of `**arguments: Unpack[Arguments]`, None when the constructor lists none."""
    try:
        hint = get_type_hints(clazz.__init__).get(parameter)
    except (NameError, AttributeError, TypeError):
        # Names that exist for type checkers only.
        return None
    if get_origin(hint) is not Unpack:
        return None
    (arguments,) = get_args(hint)
    return sorted(arguments.__optional_keys__ | arguments.__required_keys__)


def check_resource(name: str, resource_type: Any, resource: Any) -> None:
    """Refuse what cannot be a resource of the type, as far as it shows before it is built (R2).

    Raises:
        DefinitionError: Names the resource, what it is and what it should be.
    """
    if not isinstance(resource_type, ResourceType):
        raise DefinitionError(f"resource {name!r} has the type {resource_type!r}; give {_types_like(resource_type)}")
    if resource is None:
        raise DefinitionError(
            f"resource {name!r} of type {resource_type.value!r} is None; give an instance, or a ResourceDescriptor"
        )
    if isinstance(resource, type):
        raise DefinitionError(
            f"resource {name!r} is the class {resource.__qualname__}; give an instance, "
            f"or ResourceDescriptor(clazz={resource.__qualname__}, ...) to have it built where it runs"
        )
    if isinstance(resource, ResourceDescriptor):
        _check_descriptor(name, resource)


def _types_like(given: object) -> str:
    several = [kind for kind in ResourceType if kind.value == given] or list(ResourceType)
    return " or ".join(f"ResourceType.{kind.name}" for kind in several)


def _check_descriptor(name: str, descriptor: ResourceDescriptor) -> None:
    clazz = descriptor.clazz
    if isinstance(clazz, str):
        module, _, qualified = clazz.partition(":")
        if not module or not qualified:
            raise DefinitionError(
                f"the descriptor of resource {name!r} names the class {clazz!r}; write it as 'module:QualifiedName'"
            )
        return
    if not isinstance(clazz, type):
        raise DefinitionError(
            f"the descriptor of resource {name!r} holds {clazz!r}, which is no class; give the class, or an instance instead of the descriptor"
        )
    if inspect.isabstract(clazz):
        missing = ", ".join(sorted(getattr(clazz, "__abstractmethods__", ())))
        raise DefinitionError(f"resource {name!r} cannot be built: {clazz.__qualname__} does not implement {missing}")
    try:
        parameters = parameters_of(clazz)
        inspect.signature(clazz).bind(**descriptor.arguments)
    except ValueError:
        # Some built-in classes have no signature; they are checked when they are built.
        return
    except TypeError as error:
        raise DefinitionError(
            f"resource {name!r} cannot be built as {clazz.__qualname__}(...): {error}; {_arguments_of(clazz)}"
        ) from error
    unknown = [] if parameters.takes_any else [one for one in descriptor.arguments if one not in parameters.known]
    if unknown:
        raise DefinitionError(
            f"resource {name!r} cannot be built as {clazz.__qualname__}(...): there is no argument "
            f"{', '.join(map(repr, unknown))}; {_arguments_of(clazz)}"
        )


def _arguments_of(clazz: type[Any]) -> str:
    known = parameters_of(clazz).known
    return f"its arguments are {', '.join(known)}" if known else "it takes no arguments by name"
