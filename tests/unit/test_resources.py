"""Resources: what may be one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import pytest
from typing_extensions import TypedDict, Unpack

from flink_agents_subagent.errors import ContextMisuseError, DefinitionError
from flink_agents_subagent.resources import Resource, ResourceDescriptor, ResourceType, check_resource, parameters_of
from flink_agents_subagent.subagents.deferred import BaseDeferredSubagentSetup, DeferredSubagentArguments


class Client(Resource):
    """A resource with a required argument."""

    def __init__(self, url: str) -> None:
        self.url = url


class Port(ABC):
    """An abstract class."""

    @abstractmethod
    def send(self) -> None:
        """Send."""


class Arguments(TypedDict, total=False):
    """What a class takes besides."""

    timeout: float


class Listed:
    """A class that lists what it hands on."""

    def __init__(self, rate: int = 1, **arguments: Unpack[Arguments]) -> None:
        self.arguments = arguments


class Open:
    """A class that hands anything on."""

    def __init__(self, rate: int, /, unit: str, **arguments: Any) -> None:
        self.arguments = arguments


def describe(**arguments: Any) -> ResourceDescriptor:
    """Describe a client."""
    return ResourceDescriptor(clazz=Client, **arguments)


@pytest.mark.parametrize(
    ("resource", "says"),
    [
        (None, "resource 'x' of type 'object' is None; give an instance, or a ResourceDescriptor"),
        (Client, r"is the class Client; give an instance, or ResourceDescriptor\(clazz=Client"),
        (describe(), "cannot be built as Client.*missing a required argument: 'url'; its arguments are url"),
        (describe(url="u", port=1), "cannot be built as Client.*unexpected keyword argument 'port'"),
        (ResourceDescriptor(clazz="acme.Client"), "names the class 'acme.Client'; write it as 'module:QualifiedName'"),
        (ResourceDescriptor(clazz=describe), "which is no class; give the class, or an instance instead of the"),
        (
            ResourceDescriptor(clazz=Listed, timout=3),
            "cannot be built as Listed.*no argument 'timout'; its arguments are rate, timeout",
        ),
        (ResourceDescriptor(clazz=Port), "Port does not implement send"),
    ],
)
def test_what_cannot_be_built_is_refused(resource: Any, says: str) -> None:
    """Mistakes that show before the job runs are found when the resource is added [R2]."""
    with pytest.raises(DefinitionError, match=says):
        check_resource("x", ResourceType.OBJECT, resource)


@pytest.mark.parametrize(
    "resource", [describe(url="u"), ResourceDescriptor(clazz="acme:Client", any=1), Client("u"), 3]
)
def test_instances_and_descriptors_are_resources(resource: Any) -> None:
    """A descriptor by text is not imported where the job is submitted; any instance is a resource [R1]."""
    check_resource("x", ResourceType.OBJECT, resource)


def test_the_type_is_a_resource_type() -> None:
    """A text in the place of the type is refused."""
    with pytest.raises(DefinitionError, match=r"resource 'x' has the type 'agent'; give ResourceType.AGENT$"):
        check_resource("x", "agent", 1)
    with pytest.raises(DefinitionError, match=r"resource 'x' has the type 3; give ResourceType.AGENT or .*OBJECT$"):
        check_resource("x", 3, 1)


@pytest.mark.parametrize(
    ("clazz", "needed", "known", "takes_any"),
    [
        (Client, ["url"], ["url"], False),
        (Listed, [], ["rate", "timeout"], False),
        (Open, ["unit"], ["unit"], True),
        (BaseDeferredSubagentSetup, [], sorted(DeferredSubagentArguments.__optional_keys__), False),
    ],
)
def test_what_a_constructor_takes_is_known(clazz: Any, needed: list[str], known: list[str], takes_any: bool) -> None:
    """By name: those without default, all, and whether there may be others; a list of arguments is read [R2]."""
    assert parameters_of(clazz) == (needed, known, takes_any)


def test_a_resource_without_name_says_how_to_get_one() -> None:
    """An instance that was not registered cannot be used as if it were."""
    with pytest.raises(ContextMisuseError, match="this Client is not registered as a resource"):
        _ = Client("u").name
