"""Resources: what may be one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import pytest

from flink_agents_subagent.errors import ContextMisuseError, DefinitionError
from flink_agents_subagent.resources import Resource, ResourceDescriptor, ResourceType, check_resource


class Client(Resource):
    """A resource with a required argument."""

    def __init__(self, url: str) -> None:
        self.url = url


class Port(ABC):
    """An abstract class."""

    @abstractmethod
    def send(self) -> None:
        """Send."""


def describe(**arguments: Any) -> ResourceDescriptor:
    """Describe a client."""
    return ResourceDescriptor(clazz=Client, **arguments)


@pytest.mark.parametrize(
    ("resource", "says"),
    [
        (None, "resource 'x' of type 'object' is None"),
        (Client, r"is the class Client; give an instance, or ResourceDescriptor\(clazz=Client"),
        (describe(), "cannot be built as Client.*missing a required argument: 'url'"),
        (describe(url="u", port=1), "cannot be built as Client.*unexpected keyword argument 'port'"),
        (ResourceDescriptor(clazz="acme.Client"), "names the class 'acme.Client'; write it as 'module:QualifiedName'"),
        (ResourceDescriptor(clazz=describe), "which is no class"),
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
    with pytest.raises(DefinitionError, match="resource 'x' has the type 'agent'; give a ResourceType"):
        check_resource("x", "agent", 1)


def test_a_resource_without_name_says_how_to_get_one() -> None:
    """An instance that was not registered cannot be used as if it were."""
    with pytest.raises(ContextMisuseError, match="this Client is not registered as a resource"):
        _ = Client("u").name
