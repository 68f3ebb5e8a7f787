"""The plan as bytes: JSON that names what can be imported, and one blob of what cannot. Owns the format; both ends are here."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping
from typing import Any

from flink_agents_subagent._plan.by_value import Shipment, pack, unpack
from flink_agents_subagent._plan.definition import AgentDefinition, ChildDefinition, ResourceDefinition
from flink_agents_subagent._plan.reference import interpreter, reference_of, resolve_reference
from flink_agents_subagent.actions import ActionDefinition
from flink_agents_subagent.errors import DefinitionError, UnknownVersionError
from flink_agents_subagent.resources import ResourceDescriptor, ResourceType
from flink_agents_subagent.subagents.metadata import SubagentMetadata

__all__ = ["PLAN_VERSION", "check_versions", "python_version", "read_definition", "write_definition"]

PLAN_VERSION = 1


def python_version() -> str:
    """Return the minor version of this interpreter, which must be the same on both ends."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def write_definition(definition: AgentDefinition) -> bytes:
    """Return the plan of an agent.

    Raises:
        DefinitionError: Something cannot be sent; names it (R2).
    """
    writer = _Writer()
    plan = {"version": PLAN_VERSION, "python": python_version(), **writer.agent(definition)}
    plan["blob"] = base64.b64encode(pack(writer.by_value)).decode("ascii")
    return json.dumps(plan, separators=(",", ":"), sort_keys=True).encode("utf-8")


def read_definition(plan: bytes) -> tuple[AgentDefinition, Mapping[str, type[Any]]]:
    """Return the agent of a plan, and the types that came by value.

    Raises:
        UnknownVersionError: A newer release wrote the plan.
        DefinitionError: Another Python wrote it, or something that it names cannot be imported here.
    """
    tree = json.loads(plan)
    check_versions("plan", tree, PLAN_VERSION)
    reader = _Reader(unpack(base64.b64decode(tree["blob"])))
    definition = reader.agent(tree)
    return definition, reader.shipment.types


def check_versions(what: str, tree: Mapping[str, Any], version: int) -> None:
    """Refuse what another format version or another Python wrote.

    Raises:
        UnknownVersionError: The format has another version.
        DefinitionError: The minor versions of Python differ, so that code by value cannot be read.
    """
    if tree["version"] != version:
        raise UnknownVersionError(
            f"the {what} has version {tree['version']}, this release reads {version}; "
            "install the same release of flink-agents-subagent where the job is submitted and where it runs"
        )
    if tree["python"] != python_version():
        raise DefinitionError(
            f"the job was submitted by Python {tree['python']}, but is run by {interpreter()}; "
            "set python.executable to an interpreter of the same minor version"
        )


class _Writer:
    """Names what can be imported, and collects the rest."""

    def __init__(self) -> None:
        self.by_value: dict[str, Any] = {}
        self._owners = ""
        """The agents around what is being written: two may use the same name for different things."""

    def agent(self, definition: AgentDefinition) -> dict[str, Any]:
        return {
            "agent": definition.name,
            "actions": [self.action(action) for action in definition.actions],
            "resources": [self.resource(resource) for resource in definition.resources],
        }

    def _child(self, name: str, child: ChildDefinition) -> dict[str, Any]:
        owners, self._owners = self._owners, f"{self._owners}sub-agent {name!r}: "
        reduce = child.reduce
        written = {
            **self.agent(child.agent),
            "reduce": None if reduce is None else self._reference("subagent_result", reduce),
            "metadata": self._by_value("its metadata", child.metadata),
        }
        self._owners = owners
        return written

    def action(self, action: ActionDefinition) -> dict[str, Any]:
        name = f"action {action.name!r}"
        return {
            "name": action.name,
            "function": self._reference(name, action.function),
            "events": [self._reference(f"event {event.__qualname__} of {name}", event) for event in action.events],
            "where": None if action.where is None else self._reference(f"the condition of {name}", action.where),
            "config": dict(action.config),
        }

    def resource(self, resource: ResourceDefinition) -> dict[str, Any]:
        written: dict[str, Any] = {"name": resource.name, "type": resource.type.value}
        if resource.input_schema is not None:
            written["input_schema"] = resource.input_schema
        described = resource.resource
        if isinstance(described, ChildDefinition):
            written["child"] = self._child(resource.name, described)
        elif isinstance(described, ResourceDescriptor):
            clazz = described.clazz
            written["class"] = clazz if isinstance(clazz, str) else self._reference(f"the class of {resource}", clazz)
            written["arguments"] = self._by_value(f"the arguments of {resource}", described.arguments)
        else:
            written["instance"] = self._by_value(str(resource), described)
        return written

    def _reference(self, name: str, thing: Any) -> str:
        return reference_of(thing) or self._by_value(name, thing)

    def _by_value(self, name: str, thing: Any) -> str:
        name = f"{self._owners}{name}"
        self.by_value[name] = thing
        return f"#{name}"


class _Reader:
    """Finds what `_Writer` named or collected."""

    def __init__(self, shipment: Shipment) -> None:
        self.shipment = shipment

    def agent(self, tree: Mapping[str, Any]) -> AgentDefinition:
        return AgentDefinition(
            tree["agent"],
            tuple(self.action(action) for action in tree["actions"]),
            tuple(self.resource(resource) for resource in tree["resources"]),
        )

    def _child(self, name: str, tree: Mapping[str, Any]) -> ChildDefinition:
        what = f"subagent_result of sub-agent {name!r}"
        reduce = None if tree["reduce"] is None else self._find(tree["reduce"], what)
        metadata: SubagentMetadata = self._find(tree["metadata"], f"the metadata of sub-agent {name!r}")
        return ChildDefinition(self.agent(tree), reduce, metadata)

    def action(self, tree: Mapping[str, Any]) -> ActionDefinition:
        name = f"action {tree['name']!r}"
        return ActionDefinition(
            tree["name"],
            self._find(tree["function"], name),
            tuple(self._find(event, f"an event of {name}") for event in tree["events"]),
            None if tree["where"] is None else self._find(tree["where"], f"the condition of {name}"),
            tree["config"],
        )

    def resource(self, tree: Mapping[str, Any]) -> ResourceDefinition:
        resource_type = ResourceType(tree["type"])
        shown = f"resource {tree['name']!r} ({resource_type.value})"
        if "child" in tree:
            child = self._child(tree["name"], tree["child"])
            return ResourceDefinition(tree["name"], resource_type, child)
        schema = tree.get("input_schema")
        if "instance" in tree:
            return ResourceDefinition(tree["name"], resource_type, self._find(tree["instance"], shown), schema)
        clazz = self._find(tree["class"], shown)
        arguments = self._find(tree["arguments"], shown)
        return ResourceDefinition(tree["name"], resource_type, ResourceDescriptor(clazz=clazz, **arguments), schema)

    def _find(self, reference: str, what: str) -> Any:
        if reference.startswith("#"):
            return self.shipment.objects[reference[1:]]
        return resolve_reference(reference, what)
