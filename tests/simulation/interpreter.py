"""Runs programs as agents. What has happened so far is what every call, write and output depends on."""

from __future__ import annotations

import asyncio
import functools
import hashlib
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

from flink_agents_subagent import (
    Agent,
    BaseDeferredSubagentSetup,
    DurableCall,
    Event,
    InputEvent,
    OutputEvent,
    Resource,
    ResourceType,
    RetryPolicy,
    RunnerContext,
    SubagentRequest,
)
from tests.simulation import programs as p
from tests.simulation.service import Service, service

__all__ = ["agent_of", "calls_inside"]

_DEEPEST = 2
_INNERMOST = 2


class Step(Event):
    """What actions send to each other."""

    depth: int
    story: str
    level: int = 0


class Call(NamedTuple):
    """What the agent inside is called with."""

    level: int
    story: str


class Outside(Resource):
    """The world of the functions: counts how often each was really called, and answers differently each time."""

    def __init__(self, *, is_pure: bool) -> None:
        self.is_pure = is_pure
        self.calls: Counter[tuple[int, str]] = Counter()

    def open(self) -> None:
        """Forget: a new simulation begins."""
        self.calls.clear()

    def answer(self, tag: int, argument: str, fails: int) -> str:
        """Return an answer, or raise."""
        self.calls[tag, argument] += 1
        count = self.calls[tag, argument]
        if fails == 9 or (not self.is_pure and count <= fails):
            raise ConnectionError(f"call {tag}", count if not self.is_pure else 0)
        return f"{tag}:{argument}" if self.is_pure else f"{tag}:{argument}:{count}"

    def reconcile(self, tag: int, argument: str, fails: int) -> str:
        """Find out what became of a call."""
        if self.is_pure:
            return self.answer(tag, argument, fails)
        return f"reconciled {self.answer(tag, argument, 0)}"


def work(outside: Outside, call: p.Call, argument: str) -> str:
    """A blocking function."""
    return outside.answer(call.tag, argument, call.fails)


async def work_async(outside: Outside, call: p.Call, argument: str) -> str:
    """A coroutine function; the effect comes first, the answer takes its time."""
    outcome: str | Exception
    try:
        outcome = outside.answer(call.tag, argument, call.fails)
    except ConnectionError as error:
        outcome = error
    await asyncio.sleep(call.takes_ms / 1000)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


class Helper(BaseDeferredSubagentSetup):
    """The sub-agent: checks that an invocation keeps its idempotency key."""

    def __init__(self, outside: Outside) -> None:
        super().__init__(description="helps")
        self.outside = outside

    async def call(self, request: SubagentRequest) -> Any:
        """Answer."""
        takes_ms, argument = request.prompt
        answer = self.outside.answer(-1, argument, 0)
        await asyncio.sleep(takes_ms / 1000)
        return {"answer": answer, "id": request.call_id}


class Body:
    """One execution of an action."""

    def __init__(self, ctx: RunnerContext, depth: int, story: str, level: int = 0) -> None:
        self.ctx = ctx
        self.depth = depth
        self.level = level
        self.story: list[Any] = [story]
        self.outside: Outside = ctx.get_resource("outside", ResourceType.OBJECT)
        self.handles: list[Any] = []
        self.lock = asyncio.Lock()

    def note(self, *what: Any) -> None:
        """Remember that something has happened."""
        self.story.append(what)

    @property
    def digest(self) -> str:
        """All that has happened, in short."""
        return hashlib.blake2b(repr(self.story).encode(), digest_size=4).hexdigest()

    def memory(self, statement: p.Remember | p.Recall) -> Any:
        """The memory that a statement means."""
        return self.ctx.sensory_memory if statement.is_sensory else self.ctx.short_term_memory

    # Statements of every action

    def do(self, statement: p.Statement) -> None:
        """Run a statement that does not wait."""
        match statement:
            case p.Remember(path=path):
                self.memory(statement).set(path, [self.digest, ()])
            case p.Recall(path=path):
                self.note("recall", self.memory(statement).get(path, "nothing"))
            case p.Count(path=path):
                self.ctx.short_term_memory.set(path, self.ctx.short_term_memory.get(path, 0) + 1)
            case p.Forget(path=path):
                self.note("forget", self.ctx.short_term_memory.remove(path))
            case p.Output():
                # The list itself: what happens later must not show in it.
                self.ctx.send_event(OutputEvent(output=self.story))
            case _:
                self.do_rarely(statement)

    def do_rarely(self, statement: p.Statement) -> None:
        """Run one of the others."""
        match statement:
            case p.Send():
                if self.depth < _DEEPEST:
                    self.ctx.send_event(Step(depth=self.depth + 1, story=self.digest, level=self.level))
            case p.Now():
                self.note("now", self.ctx.now())
            case p.Chance():
                self.note("chance", self.ctx.random().random(), self.ctx.uuid4())
            case p.Raise():
                raise ValueError("raised", self.digest)
            case p.DefCall():
                self.call_and_wait(statement)
            case _:
                raise AssertionError(f"no interpreter for {statement}")

    def call_and_wait(self, call: p.DefCall) -> None:
        """Run `ctx.durable_execute`."""
        argument = self.digest
        reconciler = (
            functools.partial(self.outside.reconcile, call.tag, argument, call.fails) if call.has_reconciler else None
        )
        try:
            self.note(
                self.ctx.durable_execute(
                    work, self.outside, p.Call(call.tag, fails=call.fails), argument, reconciler=reconciler
                )
            )
        except ConnectionError as error:
            self.note(error.args)
            if not call.is_caught:
                raise


def run_def(body: Body, statements: p.Body) -> None:
    """Run the body of a `def` action."""
    for statement in statements:
        match statement:
            case p.Try(body=inner):
                try:
                    run_def(body, inner)
                except Exception as error:  # noqa: BLE001 - authors do
                    body.note("caught", type(error).__name__)
            case p.Branch(yes=yes, no=no):
                run_def(body, yes if int(body.digest, 16) % 2 else no)
            case _:
                body.do(statement)


def agent_of(program: p.Program, remote: Service | None = None) -> Agent:
    """Return the agent of a program; `remote` is the service behind the asynchronous sub-agent."""
    outside = Outside(is_pure=program.is_pure)
    agent = Agent("program")
    agent.add_resource("outside", ResourceType.OBJECT, outside)
    agent.add_resource("helper", ResourceType.AGENT, Helper(outside))
    agent.add_resource("jobs", ResourceType.AGENT, service(remote or Service()))
    for number, action in enumerate(program.on_input):
        agent.add_action(f"input{number}", InputEvent, _function(action))
    for number, action in enumerate(program.on_event):
        agent.add_action(f"step{number}", Step, _function(action))
    if program.in_child:
        child = Agent("child")
        for number, action in enumerate(program.in_child):
            child.add_action(f"input{number}", InputEvent, _function(action))
        for number, action in enumerate(program.in_child_on_event):
            child.add_action(f"step{number}", Step, _function(action))
        agent.add_resource("child", ResourceType.AGENT, child)
    return agent


def _function(action: p.Action) -> Callable[..., Any]:
    from tests.simulation.asynchronous import run_async  # noqa: PLC0415 - the two modules need each other

    async def run_as_coroutine(event: Any, ctx: RunnerContext) -> None:
        await run_async(_body(event, ctx), action.body)

    def run(event: Any, ctx: RunnerContext) -> None:
        run_def(_body(event, ctx), action.body)

    return run_as_coroutine if action.is_async else run


def calls_inside(body: Body, child: p.Child) -> list[Any]:
    """Submit to the agent inside, as long as it is not too deep."""
    if body.level >= _INNERMOST:
        return []
    agent = body.ctx.get_resource("child", ResourceType.AGENT)
    timeout = None if child.timeout_ms is None else child.timeout_ms / 1000
    prompts = [Call(body.level + 1, f"{body.digest}{number}") for number in range(child.prompts)]
    return [agent.submit(body.ctx, prompt, timeout=timeout) for prompt in prompts]


def _body(event: Any, ctx: RunnerContext) -> Body:
    if isinstance(event, Step):
        return Body(ctx, event.depth, event.story, event.level)
    if isinstance(event.input, Call):
        return Body(ctx, 0, event.input.story, event.input.level)
    return Body(ctx, 0, repr(event.input))


def durable_call(body: Body, call: p.Call) -> DurableCall:
    """Return the description of a call."""
    argument = body.digest
    retry = None
    if call.attempts > 1:
        retry = RetryPolicy(max_attempts=call.attempts, initial=timedelta(milliseconds=20), retry_on=(ConnectionError,))
    return DurableCall(
        work if call.is_blocking else work_async,
        (body.outside, call, argument),
        reconciler=functools.partial(body.outside.reconcile, call.tag, argument, call.fails)
        if call.has_reconciler
        else None,
        timeout=None if call.timeout_ms is None else timedelta(milliseconds=call.timeout_ms),
        retry=retry,
    )
