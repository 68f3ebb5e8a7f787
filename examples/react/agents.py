"""The planner in Python. agents.yaml beside it describes the same."""

from __future__ import annotations

from examples.react.model import Model
from examples.react.travel import Hotels, Plan, distance_km, exchange_rate, forecast
from flink_agents_subagent import ResourceDescriptor, ResourceType
from flink_agents_subagent.chat import BaseChatModelSetup, ReActAgent, Tool

__all__ = ["packer", "planner"]


def planner() -> ReActAgent:
    """Return the agent that plans a trip: `{"city": ..., "nights": ...}` becomes a `Plan`."""
    agent = ReActAgent(
        "planner_model",
        prompt="Plan a trip: {nights} nights in {city}. Ask how far it is, what a hotel costs in euros, and what to pack.",
        output_schema=Plan,
        name="planner",
    )
    agent.add_resource("model", ResourceType.CHAT_MODEL_CONNECTION, ResourceDescriptor(clazz=Model))
    agent.add_resource("distance_km", ResourceType.TOOL, ResourceDescriptor(clazz=Tool, func=distance_km))
    agent.add_resource("exchange_rate", ResourceType.TOOL, ResourceDescriptor(clazz=Tool, func=exchange_rate))
    model = ResourceDescriptor(
        clazz=BaseChatModelSetup,
        connection="model",
        model="planner-1",
        tools=["distance_km", "exchange_rate"],
        subagents=["hotels", "packer"],
        timeout=60,
    )
    agent.add_resource("planner_model", ResourceType.CHAT_MODEL, model)
    agent.add_resource("hotels", ResourceType.AGENT, ResourceDescriptor(clazz=Hotels, timeout=30))
    agent.add_resource("packer", ResourceType.AGENT, packer())
    return agent


def packer() -> ReActAgent:
    """Return the agent inside it, which has a tool of its own and the connection of its caller."""
    agent = ReActAgent(
        "packer_model",
        prompt="You tell travellers what to pack. Look at the forecast of every day.",
        description="Tells what to pack for a trip, such as '2 nights in Oslo'.",
        name="packer",
    )
    agent.add_resource("forecast", ResourceType.TOOL, ResourceDescriptor(clazz=Tool, func=forecast, timeout=10))
    model = ResourceDescriptor(clazz=BaseChatModelSetup, connection="model", model="packer-1", tools=["forecast"])
    agent.add_resource("packer_model", ResourceType.CHAT_MODEL, model)
    return agent
