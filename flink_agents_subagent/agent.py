"""The agent that an author writes: actions and resources under a name. Owns declaration; must not know how it runs."""

from __future__ import annotations

import copy
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from flink_agents_subagent.actions import ActionDefinition, trigger_of
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.events import Event
from flink_agents_subagent.resources import ResourceType, check_resource, declared_resource

__all__ = ["Agent", "subagent"]

_DECLARED = "_declared_by_calls"
_MADE = "_made_of_methods"

AgentClass = TypeVar("AgentClass", bound="type[Agent]")

_of_classes: weakref.WeakKeyDictionary[type[Any], dict[tuple[str, ResourceType], Any]] = weakref.WeakKeyDictionary()
"""What decorators declared. Not an attribute of the class, which may travel by value while the plan carries its resources."""


class Agent:
    """A program of actions that events trigger, and the resources that they use.

    Declare actions with `@action` on methods of a subclass, or with `add_action` on an instance. Methods may be
    static, class or instance methods; an instance method sees a copy of the agent's attributes in each subtask.

    Guarantee: checked when it is declared or compiled; a mistake raises `DefinitionError` before the job starts.
    Thread: any, before submission. Do not keep changing values in an agent's attributes: they are neither
        checkpointed nor shared between subtasks; that is what memory is for.
    """

    def __init__(self, name: str | None = None) -> None:
        """Name the agent; without a name it has that of its class. The name addresses its state in savepoints."""
        if type(self) is Agent and name is None:
            raise DefinitionError("Agent() needs a name; a subclass may have that of its class")
        if name is not None:
            _check_name("an agent", name)
        self.__dict__["_name"] = name

    @property
    def name(self) -> str:
        """The name of the agent, by which savepoints and the store find its state."""
        return self.__dict__.get("_name") or type(self).__name__

    def subagent_result(self, outputs: list[Any]) -> Any:
        """Return what a caller gets when this agent runs as its sub-agent (N1); override it to give something else than the list.

        Called once when the call ends in success. An exception makes the call a failed one (N4).

        Replay: called again; the same outputs must give the same result.
        Thread: task thread.

        Args:
            outputs: The payloads of the `OutputEvent`s that the call sent, in order; empty without any.
        """
        return outputs

    def add_action(
        self,
        name: str,
        events: type[Event] | Sequence[type[Event]],
        func: Callable[..., Any],
        *,
        where: Callable[[Any], bool] | None = None,
        **config: Any,
    ) -> Agent:
        """Add an action that is not a method; see `@action` for its guarantees.

        Returns:
            The agent itself, for chaining.

        Raises:
            DefinitionError: The name is taken, or function, events, condition or config cannot be used.
        """
        _check_name("an action", name)
        if config.keys() == {"config"} and isinstance(config["config"], Mapping):
            raise DefinitionError(
                f"action {name!r} is given config={config['config']!r}; add_action takes the entries as arguments of their own, "
                "as in add_action(name, events, func, limit=3)"
            )
        return self._add(ActionDefinition(name, func, _several(events), where, config))

    def add_resource(self, name: str, resource_type: ResourceType, resource: Any) -> Agent:
        """Add a resource: a `ResourceDescriptor` (built in each subtask; preferred), or an instance that can be pickled.

        Returns:
            The agent itself, for chaining.

        Raises:
            DefinitionError: The name is taken within its type, or the resource is none of this type (R2).
        """
        _check_name("a resource", name)
        check_resource(name, resource_type, resource)
        if (name, resource_type) in self.resources:
            raise DefinitionError(
                f"agent {self.name!r} already has a resource {name!r} of type {resource_type.value!r}; "
                "names are unique within a type"
            )
        self._added_resources[name, resource_type] = resource
        return self

    @property
    def actions(self) -> tuple[ActionDefinition, ...]:
        """All actions: methods first, base classes before subclasses, then the added ones in their order."""
        methods = []
        for name, attribute in _methods_of(type(self)).items():
            trigger = trigger_of(attribute)
            if trigger is not None:
                bound = getattr(self, name)
                methods.append(ActionDefinition(name, bound, trigger.events, trigger.where, trigger.config))
        return (*methods, *self._added_actions.values())

    @property
    def resources(self) -> Mapping[tuple[str, ResourceType], Any]:
        """All resources by name and type: those of the classes first, base classes before subclasses, then the added ones."""
        classes = reversed(type(self).__mro__)
        declared = {name: it for base in classes for name, it in _of_classes.get(base, {}).items()}
        return types.MappingProxyType({**declared, **self._make_of_methods(), **self._added_resources})

    def _add(self, action: ActionDefinition) -> Agent:
        if action.name in self._added_actions or action.name in _methods_of(type(self)):
            raise DefinitionError(
                f"agent {self.name!r} already has an action {action.name!r}; give the second one another name"
            )
        self._added_actions[action.name] = action
        return self

    def _with_resources(self, resources: Mapping[tuple[str, ResourceType], Any]) -> Agent:
        """Return a copy that has these resources in the place of its own."""
        clone = copy.copy(self)
        clone.__dict__[_DECLARED] = (dict(self._added_actions), dict(resources))
        return clone

    def _make_of_methods(self) -> Mapping[tuple[str, ResourceType], Any]:
        """Return the resources that decorators make of methods, each made once."""
        made: dict[tuple[str, ResourceType], Any] = self.__dict__.setdefault(_MADE, {})
        for base in reversed(type(self).__mro__):
            for name, attribute in vars(base).items():
                declared = declared_resource(attribute)
                if declared is not None and (name, declared.type) not in made:
                    made[name, declared.type] = declared.make(getattr(self, name))
        return made

    # Kept lazily, so that a subclass need not call `Agent.__init__`.
    @property
    def _added_actions(self) -> dict[str, ActionDefinition]:
        added: dict[str, ActionDefinition] = self.__dict__.setdefault(_DECLARED, ({}, {}))[0]
        return added

    @property
    def _added_resources(self) -> dict[tuple[str, ResourceType], Any]:
        added: dict[tuple[str, ResourceType], Any] = self.__dict__.setdefault(_DECLARED, ({}, {}))[1]
        return added

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what was added: the plan carries it, and an instance method needs the attributes only."""
        return {name: value for name, value in self.__dict__.items() if name not in (_DECLARED, _MADE)}


def _methods_of(agent_class: type[Agent]) -> dict[str, Any]:
    """Return the attributes that are actions, refusing an override that silently is none."""
    found: dict[str, Any] = {}
    for base in reversed(agent_class.__mro__):
        for name, attribute in vars(base).items():
            if trigger_of(attribute) is not None:
                found[name] = attribute
            elif name in found:
                raise DefinitionError(
                    f"{base.__qualname__}.{name} overrides an action without being one; "
                    "decorate it with @action, or give it another name"
                )
    return found


def _several(events: Any) -> tuple[Any, ...]:
    """Return what was given as one class or a list of them; whether it is one of classes is checked with the action."""
    return tuple(events) if isinstance(events, Sequence) and not isinstance(events, str) else (events,)


def _check_name(what: str, name: Any) -> None:
    if isinstance(name, ResourceType):
        raise DefinitionError(f"the name of {what} is {name}; the order is add_resource(name, type, resource)")
    if not isinstance(name, str) or not name.strip():
        raise DefinitionError(f"the name of {what} is {name!r}; give a text that is not blank")


def subagent(name: str, resource: Any) -> Callable[[AgentClass], AgentClass]:
    """Give all agents of a class a sub-agent: `@subagent("reviewer", ResourceDescriptor(clazz=Reviewer))` above the class (R1).

    The same as `add_resource(name, ResourceType.AGENT, resource)` on each instance. Subclasses have it too, and may not replace it. An
    instance as the resource is shared by all agents of the class; a descriptor is built for each of them.

    Args:
        name: As for `add_resource`.
        resource: A `ResourceDescriptor` (preferred), or a `SubagentSetup`.

    Raises:
        DefinitionError: The class is no agent class, has such a sub-agent, or the resource cannot be one (R2).
    """
    _check_name("a resource", name)
    check_resource(name, ResourceType.AGENT, resource)

    def declare(agent_class: AgentClass) -> AgentClass:
        if not isinstance(agent_class, type) or not issubclass(agent_class, Agent):  # type: ignore[redundant-expr]  # what authors decorate
            raise DefinitionError(f"@subagent({name!r}, ...) stands above a subclass of Agent, not {agent_class!r}")
        if any((name, ResourceType.AGENT) in _of_classes.get(base, {}) for base in agent_class.__mro__):
            raise DefinitionError(
                f"agent class {agent_class.__qualname__} already has a sub-agent {name!r}; names are unique within a type"
            )
        # Decorators apply from the bottom up; they are read from the top down.
        earlier = _of_classes.get(agent_class, {})
        _of_classes[agent_class] = {(name, ResourceType.AGENT): resource, **earlier}
        return agent_class

    return declare
