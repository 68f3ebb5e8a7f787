"""Jobs of every kind of stream, run one after the other by `python submission.py <case>…`; prints one JSON line per case."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import sys
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel
from pyflink.common import Row, Types
from pyflink.datastream import DataStream, StreamExecutionEnvironment

from flink_agents_subagent import (
    Agent,
    AgentsExecutionEnvironment,
    BaseDeferredSubagentSetup,
    DefinitionError,
    Event,
    InputEvent,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    SubagentFutures,
    SubagentRequest,
    action,
)
from flink_agents_subagent.execution import AgentOutput


class Order(BaseModel):
    """An input of the script."""

    user: str
    number: int


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """An output of the script."""

    order: Order
    text: str


class Received(Event):
    """An event of the script."""

    order: Order


class Echo(Agent):
    """Sends what it gets, with its key."""

    def __init__(self, show: Callable[[Any], Any] = lambda value: value, name: str = "echo") -> None:
        super().__init__(name)
        self.show = show

    @action(InputEvent)
    def receive(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Echo."""
        ctx.send_event(OutputEvent(output=self.show((ctx.key, event.input))))


class Counter(Agent):
    """Numbers the inputs of each key in their order, across a durable call."""

    @action(InputEvent)
    @staticmethod
    async def receive(event: InputEvent, ctx: RunnerContext) -> None:
        """Count."""
        number = await ctx.durable_execute_async(int, event.input[1])
        memory = ctx.short_term_memory
        memory.set("numbers", [*memory.get("numbers", []), number])
        ctx.send_event(OutputEvent(output=(ctx.key, memory.get("numbers"))))


class Picky(Agent):
    """Fails for some."""

    @action(InputEvent)
    @staticmethod
    def receive(event: InputEvent, ctx: RunnerContext) -> None:
        """Fail for odd numbers."""
        if event.input.number % 2:
            raise ValueError(f"{event.input.number} is odd")
        ctx.send_event(OutputEvent(output=event.input.number))


class Reviewer(BaseDeferredSubagentSetup):
    """A sub-agent of the script."""

    def __init__(self, prefix: str) -> None:
        super().__init__(description="reviews")
        self.prefix = prefix
        self.opened = False

    async def open(self) -> None:
        """Remember that it is open."""
        self.opened = True

    async def call(self, request: SubagentRequest) -> Verdict:
        """Review."""
        if request.prompt.number == 3:
            raise ValueError("no three")
        return Verdict(request.prompt, f"{self.prefix} {self.opened}")


class Locked(Reviewer):
    """A sub-agent that does not open."""

    def __init__(self) -> None:
        super().__init__("locked")

    async def open(self) -> None:
        """Fail."""
        raise OSError("no key")


class Opaque(Agent):
    """Makes a durable call whose result cannot be journalled."""

    @action(InputEvent)
    @staticmethod
    async def receive(event: InputEvent, ctx: RunnerContext) -> None:
        """Call."""
        await ctx.durable_execute_async(object)


class Caller(Agent):
    """Asks two sub-agents at once."""

    @action(InputEvent)
    @staticmethod
    def receive(event: InputEvent, ctx: RunnerContext) -> None:
        """Send an event of the script."""
        ctx.send_event(Received(order=event.input))

    @action(Received)
    @staticmethod
    async def delegate(event: Received, ctx: RunnerContext) -> None:
        """Delegate."""
        first, second = (ctx.get_resource(name, ResourceType.AGENT) for name in ("first", "second"))
        handles = SubagentFutures(first.submit(ctx, event.order), second.submit(ctx, event.order))
        results = await handles.await_all()
        texts = [result.get_result(Verdict).text if result.is_success else result.error_message for result in results]
        ctx.send_event(OutputEvent(output=[event.order.number, *texts]))


ORDERS = [Order(user=f"u{number % 2}", number=number) for number in range(4)]


def environment(**options: Any) -> AgentsExecutionEnvironment:
    """Return an environment with two subtasks that keeps nothing."""
    flink = StreamExecutionEnvironment.get_execution_environment()
    flink.set_parallelism(2)
    env = AgentsExecutionEnvironment.get_execution_environment(flink).set_option("action-state-store", "memory")
    for name, value in options.items():
        env.set_option(name.replace("_", "-"), value)
    return env


def collected(stream: DataStream) -> list[Any]:
    """Run the job and return the elements."""
    with stream.execute_and_collect() as elements:
        return list(elements)


def script_types() -> Any:
    """Return own classes that went through the job."""
    agent = Echo(lambda pair: Verdict(pair[1], pair[0]))
    outputs = environment().from_list(ORDERS, lambda order: order.user, str).apply(agent).collect()
    are_own = [type(output) is Verdict and type(output.order) is Order for output in outputs]
    return [all(are_own), sorted([output.text, output.order.number] for output in outputs)]


def strings_by_field() -> Any:
    """Key JSON texts in Java and emit JSON texts."""
    env = environment()
    stream = env.stream_environment.from_collection(['{"u": "é", "n": 1}', '{"u": 5, "n": 2}'], Types.STRING())
    return collected(env.from_datastream(stream, key_field="u").apply(Echo(list)).to_json_datastream())


def rows(is_by_field: bool) -> Any:
    """Key rows by a selector, or by a field."""
    env = environment()
    row_type = Types.ROW_NAMED(["user", "when"], [Types.STRING(), Types.SQL_DATE()])
    stream = env.stream_environment.from_collection([Row("ann", dt.date(2024, 2, 29))], row_type)
    by_field, by_selector = {"key_field": "user"}, {"key_selector": lambda row: row["user"]}
    keyed = env.from_datastream(stream, **(by_field if is_by_field else by_selector))
    agent = Echo(lambda pair: f"{pair[0]} {pair[1]['user']} {pair[1]['when'].isoformat()} {pair[1].names}")
    return collected(keyed.apply(agent).to_datastream(Types.STRING()))


def bytes_and_tuples() -> Any:
    """Let one agent feed bytes to another, which is keyed by a tuple."""
    env = environment()
    array = Types.PRIMITIVE_ARRAY(Types.BYTE())
    first = env.from_list([b"\x00a", b"\xffb"], lambda value: value).apply(Echo(lambda pair: pair[0], "first"))
    stream = first.to_datastream(array)
    out = env.from_datastream(stream, lambda value: (value[0], value[1:]), tuple).apply(Echo(lambda pair: pair[1] * 2))
    # PyFlink collects bytes as lists of signed numbers.
    return sorted(bytes(byte % 256 for byte in element).hex() for element in collected(out.to_datastream(array)))


def keyed_stream(typed: bool) -> Any:
    """Take a stream that PyFlink has keyed."""
    env = environment()
    stream = env.stream_environment.from_collection([("a", 1), ("b", 2), ("a", 3)])
    keyed = stream.key_by(lambda pair: pair[0], Types.STRING()) if typed else stream.key_by(lambda pair: pair[0])
    return sorted(env.from_datastream(keyed).apply(Echo()).collect())


def order() -> Any:
    """Number the inputs of three keys on two subtasks."""
    inputs = [(f"k{number % 3}", number) for number in range(60)]
    outputs = environment().from_list(inputs, lambda pair: pair[0]).apply(Counter()).collect()
    return {key: max(numbers for k, numbers in outputs if k == key) for key in ("k0", "k1", "k2")}


def dead_letters() -> Any:
    """Let runs fail and read what is left of them."""
    out = environment(on_action_error="dead-letter").from_list(ORDERS, lambda order: order.user).apply(Picky())
    out.to_datastream()
    letters = collected(out.dead_letters())
    return sorted(
        [type(x["input"]) is Order, x["key"], x["error_type"], x["error_message"], x["action"]] for x in letters
    )


def failing_action() -> Any:
    """Let an action fail the job."""
    return _failure(environment().from_list(ORDERS, lambda order: order.user).apply(Picky()))


def failing_open() -> Any:
    """Let a sub-agent fail to open."""
    agent = Caller().add_resource("first", ResourceType.AGENT, Locked())
    return _failure(environment().from_list(ORDERS, lambda order: order.user).apply(agent))


def unknown_type() -> Any:
    """Let a durable call return what the journal cannot hold."""
    return _failure(environment().from_list(ORDERS, lambda order: order.user).apply(Opaque()))


def subagents() -> Any:
    """Delegate to a built and to a pickled sub-agent."""
    agent = Caller().add_resource("first", ResourceType.AGENT, ResourceDescriptor(clazz=Reviewer, prefix="built"))
    agent.add_resource("second", ResourceType.AGENT, Reviewer("pickled"))
    return sorted(environment().from_list(ORDERS, lambda order: order.user).apply(agent).collect())


def typed_output() -> Any:
    """Emit rows by a Python worker of PyFlink."""
    env = environment()
    out = env.from_list(ORDERS, lambda order: order.user).apply(Echo(lambda pair: pair[1].number))
    return sorted(collected(out.to_datastream(Types.LONG())))


def twice() -> Any:
    """Run one graph twice: two submissions."""
    out = environment().from_list(ORDERS, lambda order: order.user).apply(Echo())
    before = out._submission.submission_id
    first, second = out.collect(), out.collect()
    return [sorted(map(str, first)) == sorted(map(str, second)), out._submission.submission_id != before]


def wrong_key() -> Any:
    """Let the selector return another type than declared."""
    return _failure(environment().from_list(ORDERS, lambda order: order.number, str).apply(Echo()))


def overlapping_checkpoints() -> AgentOutput:
    """Return the output of an agent whose store cannot bear the environment's checkpoints."""
    env = environment(action_state_store="kafka")
    env.stream_environment.enable_checkpointing(1000)
    env.stream_environment.get_checkpoint_config().set_max_concurrent_checkpoints(2)
    return env.from_list(ORDERS, lambda order: order.user, str).apply(Echo())


def log_without_folder() -> AgentOutput:
    """Return the output of an agent whose event log has no place."""
    return environment(event_log="file").from_list(ORDERS, lambda order: order.user, str).apply(Echo())


def refusals() -> Any:
    """Collect the messages of wrong submissions."""
    env = environment()
    flink = env.stream_environment
    pickled = flink.from_collection(ORDERS)
    strings = flink.from_collection(["a"], Types.STRING())
    row = flink.from_collection([("a",)], Types.ROW_NAMED(["user"], [Types.STRING()]))
    applied = env.from_datastream(strings, lambda text: text).apply(Echo())
    applied.to_datastream()
    wrong: list[Callable[[], Any]] = [
        lambda: env.from_datastream(pickled).apply(Echo(name="a")).to_datastream(),
        lambda: env.from_datastream(pickled, lambda o: o, key_field="user").apply(Echo(name="b")).to_datastream(),
        lambda: env.from_datastream(pickled, key_field="user").apply(Echo(name="c")).to_datastream(),
        lambda: env.from_datastream(row, key_field="usr").apply(Echo(name="d")).to_datastream(),
        lambda: env.from_datastream(strings, lambda text: text, float),
        lambda: env.from_datastream(strings, lambda text: text).apply(Echo()),
        lambda: env.from_list([], lambda text: text),
        applied.to_json_datastream,
        applied.dead_letters,
        lambda: overlapping_checkpoints().to_datastream(),
        lambda: log_without_folder().to_datastream(),
    ]
    return [_message(call) for call in wrong]


def _failure(output: AgentOutput) -> str | None:
    try:
        output.collect()
    except Exception as error:  # noqa: BLE001 - whatever Flink's client raises
        return str(error)
    return None


def _message(call: Callable[[], Any]) -> str | None:
    try:
        call()
    except DefinitionError as error:
        return str(error)
    return None


CASES: dict[str, Callable[[], Any]] = {
    "script_types": script_types,
    "strings_by_field": strings_by_field,
    "rows_by_selector": lambda: rows(False),
    "rows_by_field": lambda: rows(True),
    "bytes_and_tuples": bytes_and_tuples,
    "keyed_stream": lambda: keyed_stream(False),
    "typed_keyed_stream": lambda: keyed_stream(True),
    "order": order,
    "dead_letters": dead_letters,
    "failing_action": failing_action,
    "failing_open": failing_open,
    "unknown_type": unknown_type,
    "subagents": subagents,
    "typed_output": typed_output,
    "twice": twice,
    "wrong_key": wrong_key,
    "refusals": refusals,
}

if __name__ == "__main__":
    for case in sys.argv[1:] or CASES:
        sys.stdout.write(json.dumps([case, CASES[case]()]) + "\n")
        sys.stdout.flush()
