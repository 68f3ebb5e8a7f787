"""Agents on streams: the one public module that knows Flink. Owns the author's way from a stream to a running job."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flink_agents_subagent._flink import submit
from flink_agents_subagent._flink.formats import OutputFormat
from flink_agents_subagent._flink.kafka import KafkaMessages, message_stream
from flink_agents_subagent._flink.shipping import ship_python
from flink_agents_subagent._flink.types import (
    DataStream,
    JobExecutionResult,
    KafkaSourceBuilder,
    KeySelector,
    StreamExecutionEnvironment,
    TypeInformation,
    WatermarkStrategy,
)
from flink_agents_subagent._plan import dump_plan
from flink_agents_subagent.agent import Agent
from flink_agents_subagent.descriptor import load_agents
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.options import OptionValue, parse_option, resolve_options
from flink_agents_subagent.resources import ResourceType, check_resource

__all__ = ["AgentInput", "AgentOutput", "AgentsExecutionEnvironment"]


class AgentsExecutionEnvironment:
    """Puts agents on the streams of a PyFlink job.

    Guarantee: an agent runs in an operator of ours inside the TaskManager; no further Python process is started for it.
    Thread: the thread that builds the job.

    ::

        env = AgentsExecutionEnvironment.get_execution_environment()
        reviews = env.from_list(orders, key_selector=lambda order: order["customer"]).apply(Reviewer())
        reviews.to_datastream().print()
        env.execute("reviews")
    """

    def __init__(self, environment: StreamExecutionEnvironment) -> None:
        """Use `get_execution_environment`."""
        self._environment = environment
        self._options: dict[str, OptionValue] = {}
        self._resources: dict[tuple[str, ResourceType], Any] = {}
        self._outputs: list[AgentOutput] = []
        self._described: dict[str, tuple[Agent, Path]] = {}

    @classmethod
    def get_execution_environment(cls, env: StreamExecutionEnvironment | None = None) -> AgentsExecutionEnvironment:
        """Return an environment on the given PyFlink one, or on one that fits where the script runs."""
        return cls(StreamExecutionEnvironment.get_execution_environment() if env is None else env)

    @property
    def stream_environment(self) -> StreamExecutionEnvironment:
        """The PyFlink environment below, for sources, checkpointing, parallelism and Python files."""
        return self._environment

    def set_option(self, name: str, value: Any) -> AgentsExecutionEnvironment:
        """Set an option of docs/options.md for the agents that are applied after it.

        Raises:
            DefinitionError: There is no such option (the nearest are named), or it cannot have this value.
        """
        self._options[name] = parse_option(name, value)
        return self

    def get_config(self) -> Mapping[str, OptionValue]:
        """Return every option with its value: durations in milliseconds, sizes in bytes."""
        return {**resolve_options({}), **self._options}

    def add_resource(self, name: str, resource_type: ResourceType, resource: Any) -> AgentsExecutionEnvironment:
        """Add a resource to all agents that are applied after it; see `Agent.add_resource`.

        Raises:
            DefinitionError: The name is taken within its type, or the resource is none of this type.
        """
        check_resource(name, resource_type, resource)
        if (name, resource_type) in self._resources:
            raise DefinitionError(
                f"the environment already has a resource {name!r} of type {resource_type.value!r}; "
                "names are unique within a type"
            )
        self._resources[name, resource_type] = resource
        return self

    def load_yaml(self, path: str | os.PathLike[str]) -> AgentsExecutionEnvironment:
        """Read agents that a YAML file describes, to be applied by name, and set the options that it gives.

        Options are set as by `set_option` at this point: they hold for agents that are applied after it, and what is set later wins.

        Args:
            path: A file as docs/yaml.md describes it, read where the job is submitted.

        Raises:
            DefinitionError: Something in the file is wrong, all of which is named; or another file has an agent of the same name.
            OSError: The file cannot be read.
        """
        file = load_agents(path)
        for name in file.agents:
            if name in self._described:
                raise DefinitionError(
                    f"{file.path} and {self._described[name][1]} both describe an agent {name!r}; "
                    "give one of them another name, by which savepoints find its state"
                )
        for name, value in file.options.items():
            self.set_option(name, value)
        self._described |= {name: (agent, file.path) for name, agent in file.agents.items()}
        return self

    def from_datastream(
        self,
        stream: DataStream,
        key_selector: Callable[[Any], Any] | KeySelector | None = None,
        key_type: type[Any] | None = None,
        key_field: str | None = None,
    ) -> AgentInput:
        """Take the inputs of an agent from a PyFlink stream.

        Guarantee: inputs of one key are handled one after the other, in the order of the stream (E1.1).

        Args:
            stream: Of any type. Strings, bytes and pickled objects arrive as they are, other types as Python values, rows as
                records of names and values. A `KeyedStream` is taken too, but costs the Python worker of its `key_by`.
            key_selector: Input → key: `str`, `int`, `bytes`, `bool` or a tuple of these. Runs in an operator of ours.
            key_type: Type that every key must have; None takes any of these.
            key_field: Instead of a selector: the field of a row, or of the JSON object in a string or bytes, that is the key. It
                is read in Java, without Python.
        """
        if key_type is not None and key_type not in submit.KEY_TYPES.values():
            names = ", ".join(known.__name__ for known in submit.KEY_TYPES.values())
            raise DefinitionError(f"key_type is {key_type!r}; a key is one of {names}")
        return AgentInput(self, stream, submit.Keying(key_selector, key_type, key_field))

    def from_kafka(
        self,
        source: KafkaSourceBuilder,
        name: str,
        key_type: type[Any] = str,
        value_type: type[Any] = str,
        *,
        watermarks: WatermarkStrategy | None = None,
        skip_tombstones: bool = False,
    ) -> AgentInput:
        """Take the inputs of an agent from Kafka: the value of a message is the input, its key is the agent's key.

        Guarantee: inputs of one key are handled one after the other, in the order of their partition (E1.1). Both are read in Java;
        only the agent itself brings Python. A message that cannot be read fails the job with its topic, partition and offset.

        Args:
            source: PyFlink's `KafkaSource.builder()` with servers, topics and offsets; it gets its deserializer here.
            name: Of the source; also its uid, by which savepoints find the offsets.
            key_type: `str` (UTF-8), `int` (4 or 8 bytes, as Kafka's serializers write them) or `bytes`.
            value_type: `str` (UTF-8) or `bytes`.
            watermarks: None: the source makes none. Inputs have the time of their message in any case.
            skip_tombstones: Pass over messages without a value, which fail the job otherwise.
        """
        messages = KafkaMessages(key_type, value_type, skip_tombstones)
        stream = message_stream(self._environment, source, name, messages, watermarks)
        return AgentInput(self, stream, submit.Keying(is_paired=True))

    def from_list(
        self, inputs: Sequence[Any], key_selector: Callable[[Any], Any], key_type: type[Any] | None = None
    ) -> AgentInput:
        """Take the inputs of an agent from a list: for first steps and tests.

        Args:
            inputs: Any values that can be pickled, at least one.
            key_selector: As in `from_datastream`.
            key_type: As in `from_datastream`.
        """
        if not inputs:
            raise DefinitionError("from_list needs at least one input; Flink makes no stream of an empty list")
        return self.from_datastream(self._environment.from_collection(list(inputs)), key_selector, key_type)

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run the job and wait until it ends.

        Guarantee: agents whose outputs nobody took run too.
        """
        for output in self._outputs:
            if not output.is_attached:
                output.attach()
        ship_python(self._environment)
        self._outputs.clear()
        return self._environment.execute(job_name)

    def _apply(self, agent_input: AgentInput, agent: Agent | str) -> AgentOutput:
        if isinstance(agent, str):
            agent = self._find(agent)
        plan = dump_plan(agent, self._resources)
        if any(output.agent == agent.name for output in self._outputs):
            raise DefinitionError(
                f"the job already has an agent {agent.name!r}; give this one another name, by which savepoints find its state"
            )
        submission = submit.Submission(agent.name, plan, self.get_config())
        output = AgentOutput(agent_input, submission)
        self._outputs.append(output)
        return output

    def _find(self, name: str) -> Agent:
        if name not in self._described:
            near = difflib.get_close_matches(name, self._described, n=3) or list(self._described)
            remedy = f"it knows {', '.join(map(repr, near))}" if near else "call load_yaml(path) before apply(name)"
            raise DefinitionError(f"the environment knows no agent {name!r} from a YAML file; {remedy}")
        return self._described[name][0]


class AgentInput:
    """A stream with keys, ready for an agent. Made by `from_datastream`, `from_kafka` and `from_list`."""

    def __init__(self, environment: AgentsExecutionEnvironment, stream: DataStream, keying: submit.Keying) -> None:
        self._environment = environment
        self._stream = stream
        self._keying = keying

    @property
    def stream(self) -> DataStream:
        """The PyFlink stream that the inputs come from, for its parallelism and the like; call it before `apply`."""
        return self._stream

    def apply(self, agent: Agent | str) -> AgentOutput:
        """Compile an agent and put it on the stream.

        Args:
            agent: The agent, or the name of one that `load_yaml` has read.

        Raises:
            DefinitionError: There is no agent of this name, the agent is wrong, or something of it cannot be sent to the TaskManagers; names it (R2).
        """
        return self._environment._apply(self, agent)

    def _attach(self, submission: submit.Submission, output: OutputFormat) -> submit.AgentOperator:
        return submit.attach(self._stream, self._keying, submission, output)


class AgentOutput:
    """An agent on a stream; says how its outputs leave. Made by `apply`."""

    def __init__(self, agent_input: AgentInput, submission: submit.Submission) -> None:
        self._input = agent_input
        self._submission = submission
        self._operator: submit.AgentOperator | None = None

    @property
    def agent(self) -> str:
        """The name of the agent."""
        return self._submission.agent

    @property
    def is_attached(self) -> bool:
        """Whether the operator was made: a way to take the outputs was called."""
        return self._operator is not None

    def to_datastream(self, output_type: TypeInformation | None = None) -> DataStream:
        """Return the outputs as a PyFlink stream.

        Args:
            output_type: None: Python objects. `Types.STRING()` takes `str` outputs and `Types.PRIMITIVE_ARRAY(Types.BYTE())` takes
                `bytes`, both without any Python behind the agent. Another type makes PyFlink convert the objects, which
                costs one of its Python workers.

        Raises:
            DefinitionError: The outputs were already taken in another format.
        """
        return submit.typed(self.attach(submit.output_format(output_type)), output_type)

    def to_json_datastream(self) -> DataStream:
        """Return the outputs as JSON texts, ready for a Java sink: JSON values, pydantic models, dataclasses.

        Raises:
            DefinitionError: The outputs were already taken in another format.
        """
        return submit.typed(self.attach("json"), None)

    def dead_letters(self) -> DataStream:
        """Return the inputs whose run failed, as dicts with `agent`, `action`, `key`, `input`, `error_type`, `error_message` (E1.8).

        Raises:
            DefinitionError: The option `on-action-error` is not `dead-letter`, or the outputs were not taken yet.
        """
        if self._submission.options["on-action-error"] != "dead-letter":
            raise DefinitionError(
                "there are no dead letters while the option on-action-error is 'fail'; "
                "call env.set_option('on-action-error', 'dead-letter') before apply()"
            )
        if self._operator is None:
            raise DefinitionError("call to_datastream() before dead_letters(), because it says how the operator emits")
        return submit.dead_letters(self._operator)

    def collect(self) -> list[Any]:
        """Run the job and return the outputs, for first steps and tests; bounded inputs only.

        Guarantee: outputs of one key in their order; those of different keys interleave.
        """
        operator = self._operator or self.attach()
        with submit.typed(operator, None).execute_and_collect() as outputs:
            collected = list(outputs)
        self._input._environment._outputs.clear()
        # Another run of the same graph is another submission, which must not find the journals of this one (E5.1).
        self._operator, self._submission = None, self._submission.renewed()
        return collected

    def attach(self, output: OutputFormat = "pickle") -> submit.AgentOperator:
        """Make the operator unless it is there; called by the ways to take the outputs."""
        if self._operator is None:
            self._operator = self._input._attach(self._submission, output)
        elif self._operator.output_format != output:
            raise DefinitionError(
                f"the outputs of agent {self.agent!r} are already taken as {self._operator.output_format}, not {output}; "
                "map that stream, or apply the agent a second time under another name"
            )
        return self._operator
