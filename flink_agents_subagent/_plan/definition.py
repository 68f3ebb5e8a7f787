"""An agent as it was declared, checked as a whole. Owns the rules that concern more than one declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple

from flink_agents_subagent.actions import ActionDefinition
from flink_agents_subagent.agent import Agent
from flink_agents_subagent.chat.action import builtin_actions
from flink_agents_subagent.chat.tool import check_tool_name
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.events import InputEvent
from flink_agents_subagent.resources import Resource, ResourceDescriptor, ResourceType
from flink_agents_subagent.subagents.metadata import SubagentMetadata, metadata_of
from flink_agents_subagent.subagents.offer import check_offered, offered_by
from flink_agents_subagent.subagents.schema import schema_offered
from flink_agents_subagent.subagents.setup import SubagentSetup, check_description

__all__ = ["AgentDefinition", "ChildDefinition", "ResourceDefinition", "check_subagent", "define"]


@dataclass(frozen=True, slots=True)
class ResourceDefinition:
    """A resource as it was declared: a descriptor, an instance, or a `ChildDefinition`."""

    name: str
    type: ResourceType
    resource: Any
    input_schema: Mapping[str, Any] | None = None
    """Of a sub-agent: what a chat model is offered, made where the job is submitted (T4)."""

    def __str__(self) -> str:
        return f"resource {self.name!r} ({self.type.value})"


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """A whole agent, checked."""

    name: str
    actions: tuple[ActionDefinition, ...]
    resources: tuple[ResourceDefinition, ...]

    @property
    def functions(self) -> Iterator[Callable[..., Any]]:
        """All functions of the author that it names, those of the agents inside it included."""
        yield from (action.function for action in self.actions)
        for resource in self.resources:
            if isinstance(resource.resource, ChildDefinition):
                yield from resource.resource.agent.functions
                if resource.resource.reduce is not None:
                    yield resource.resource.reduce


@dataclass(frozen=True, slots=True)
class ChildDefinition:
    """An agent that is registered as a sub-agent of another (N1)."""

    agent: AgentDefinition
    reduce: Callable[[list[Any]], Any] | None
    """Its own `subagent_result`; None when it has the list."""
    metadata: SubagentMetadata


_Key = tuple[str, ResourceType]


class _Around(NamedTuple):
    """What is around an agent that is being checked."""

    chain: tuple[tuple[str, Agent], ...]
    """The agents, outermost first, each with the name that it has in the one before."""
    seen: dict[int, ResourceDefinition]
    """By identity: every instance among the resources of all of them."""
    visible: AbstractSet[_Key]
    """The resources that it can get from its callers."""


def define(agent: Agent, shared: Mapping[tuple[str, ResourceType], Any] | None = None) -> AgentDefinition:
    """Check an agent together with the resources of its environment.

    Raises:
        DefinitionError: Names what is wrong (R2).
    """
    if not isinstance(agent, Agent):
        raise DefinitionError(f"an agent is an instance of Agent, not {agent!r}{'; call it' if agent is Agent else ''}")
    for name, resource_type in agent.resources:
        if (name, resource_type) in (shared or {}):
            raise DefinitionError(
                f"agent {agent.name!r} and its environment both have a resource {name!r} of type "
                f"{resource_type.value!r}; names are unique within a type"
            )
    return _define(agent, {**(shared or {}), **agent.resources}, _Around(((agent.name, agent),), {}, frozenset()))


def _define(agent: Agent, declared: Mapping[_Key, Any], around: _Around) -> AgentDefinition:
    """Check an agent and those inside it."""
    actions = agent.actions
    if not any(issubclass(event, InputEvent) for action in actions for event in action.events):
        raise DefinitionError(
            f"agent {agent.name!r} has no action for InputEvent, so that no input would ever be handled; "
            "decorate one with @action(InputEvent)"
        )
    visible = around.visible | declared.keys()
    resources = tuple(
        ResourceDefinition(
            name,
            kind,
            _child(name, it, around._replace(visible=visible)) if isinstance(it, Agent) else it,
            _input_schema(name, kind, it),
        )
        for (name, kind), it in declared.items()
    )
    _check_resources(resources, around.seen)
    return AgentDefinition(agent.name, _with_builtin_actions(agent.name, actions, visible), resources)


def _child(name: str, agent: Agent, around: _Around) -> ChildDefinition:
    """Check an agent inside another (G1)."""
    chain = (*around.chain, (name, agent))
    if any(agent is other for _, other in around.chain):
        names = " > ".join(name for name, _ in chain)
        raise DefinitionError(
            f"agents are inside one another in a cycle: {names}; take one of them out, or give the call to an agent of its own"
        )
    definition = _define(agent, agent.resources, around._replace(chain=chain))
    is_plain = type(agent).subagent_result is Agent.subagent_result
    return ChildDefinition(definition, None if is_plain else agent.subagent_result, metadata_of(name, agent))


def _with_builtin_actions(
    agent: str, actions: tuple[ActionDefinition, ...], visible: AbstractSet[_Key]
) -> tuple[ActionDefinition, ...]:
    """Add the actions of chat requests where a chat model is visible (C2)."""
    if not any(kind is ResourceType.CHAT_MODEL for _, kind in visible):
        return actions
    builtin = builtin_actions()
    taken = {action.name for action in actions} & {action.name for action in builtin}
    if taken:
        raise DefinitionError(
            f"agent {agent!r} has an action {taken.pop()!r}, the name of a built-in one; give it another name"
        )
    return (*actions, *builtin)


def _check_resources(resources: tuple[ResourceDefinition, ...], seen: dict[int, ResourceDefinition]) -> None:
    check_models({(resource.name, resource.type): resource.resource for resource in resources})
    for resource in resources:
        if resource.type is ResourceType.AGENT:
            check_subagent(resource)
        if resource.type is ResourceType.TOOL:
            check_tool_name(resource.name)
        if isinstance(resource.resource, Resource):
            other = seen.setdefault(id(resource.resource), resource)
            # Another agent may have the same one under the same name; it is opened once.
            if (other.name, other.type) != (resource.name, resource.type):
                raise DefinitionError(
                    f"{other} and {resource} are one instance; give each its own, because its name is part of what it does"
                )


def _input_schema(name: str, kind: ResourceType, resource: Any) -> Mapping[str, Any] | None:
    """Return the schema of what a sub-agent takes, as far as it shows before it is built.

    Raises:
        DefinitionError: Its input type cannot be rendered, or refers to itself; names the sub-agent and the remedy (T13).
    """
    if kind is not ResourceType.AGENT:
        return None
    if isinstance(resource, SubagentSetup):
        return resource.offered_schema()
    if not isinstance(resource, ResourceDescriptor) or not _is_setup_class(resource.clazz):
        return None
    given = {it: resource.arguments.get(it) or getattr(resource.clazz, it) for it in ("input_schema", "input_type")}
    check_description(f"sub-agent {name!r}", None, given["input_schema"])
    return schema_offered(f"sub-agent {name!r}", given["input_schema"], given["input_type"])


def _is_setup_class(clazz: Any) -> bool:
    return isinstance(clazz, type) and issubclass(clazz, SubagentSetup)


def check_models(resources: Mapping[tuple[str, ResourceType], Any]) -> None:
    """Refuse chat models that offer what no model can call (B6).

    Raises:
        DefinitionError: Names the model, the sub-agent and the remedy.
    """
    subagents = {name: resource for (name, kind), resource in resources.items() if kind is ResourceType.AGENT}
    for (name, kind), resource in resources.items():
        if kind is ResourceType.CHAT_MODEL:
            check_offered(name, offered_by(resource), subagents)


def check_subagent(definition: ResourceDefinition) -> None:
    """Refuse what is registered as a sub-agent and is none (R2).

    Raises:
        DefinitionError: Names the sub-agent and what is wrong.
    """
    resource = definition.resource
    owner = f"sub-agent {definition.name!r}"
    if isinstance(resource, ChildDefinition):
        return
    if isinstance(resource, ResourceDescriptor):
        clazz, arguments = resource.clazz, resource.arguments
        if isinstance(clazz, type) and issubclass(clazz, Agent):
            raise DefinitionError(
                f"{owner} is described as the agent {clazz.__qualname__}; give an instance of it, as in {clazz.__qualname__}(...): "
                "an agent is compiled with its caller, not built in each subtask"
            )
        if isinstance(clazz, type) and not issubclass(clazz, SubagentSetup):
            raise DefinitionError(
                f"{owner} is described as a {clazz.__qualname__}, which is no SubagentSetup; describe a subclass of one"
            )
        check_description(owner, arguments.get("description"), arguments.get("input_schema"))
    elif isinstance(resource, SubagentSetup):
        check_description(owner, resource.description, resource.input_schema)
    else:
        raise DefinitionError(
            f"{owner} is a {type(resource).__qualname__}, which is no SubagentSetup; give one, a ResourceDescriptor of one, or an Agent"
        )
