"""Inputs whose one `def` action may need nothing but to send outputs: handled without a run, until the action needs one.

Owns that shortcut and nothing behind it: what the action does beyond outputs is done by a run, from where the action is. Must
not change what happens: the same effects, errors and checkpoint entries as without it.
"""

from __future__ import annotations

from contextvars import Context
from threading import get_ident
from typing import Any, Final

from flink_agents_subagent._engine.context import ExecutionContext
from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.effects import Emit, InputFinished
from flink_agents_subagent._engine.execution import DefExecution, Execution, misuse, refuse_awaitable
from flink_agents_subagent._engine.faults import EngineStopped
from flink_agents_subagent._engine.held_input import HeldInput, input_event
from flink_agents_subagent._engine.run import Run
from flink_agents_subagent._plan.compiled import CompiledAction
from flink_agents_subagent.events import Event, InputEvent, OutputEvent

__all__ = ["DirectInputs", "direct_action"]

_REST_MS: Final = 10
"""So long every input gets a run at once after an action has needed one: it will need one again, and the shortcut is a detour."""
# Each input goes through it: half of the time of `Emit(…)` is spent around it.
_new = tuple.__new__


def direct_action(routes: Any) -> CompiledAction | None:
    """Return the action that alone takes every input, and in one go; None when there is no such action.

    Args:
        routes: What an agent triggers by event type (`CompiledAgent.routes`).
    """
    of_inputs = routes.get(InputEvent, ())
    if len(of_inputs) != 1 or of_inputs[0].condition is not None or of_inputs[0].action.is_async:
        return None
    action: CompiledAction = of_inputs[0].action
    return action


class DirectInputs:
    """The inputs of one engine whose only action is a `def` action without condition.

    Guarantee: an input is either done with when `process` returns, as if a run had been, or has a run that begins with what the
        action has done so far.
    Replay: a run of outputs alone is over within its command, so that no checkpoint knows it (E4.1); restored runs and inputs that
        may claim a journal do not come here.
    Thread: task thread.
    """

    __slots__ = ("_core", "action", "rests_until_ms")

    def __init__(self, core: EngineCore, action: CompiledAction) -> None:
        self._core = core
        self.action = action
        self.rests_until_ms = 0
        """Engine time before which inputs are not to come here."""

    def process(self, ticket: int, key: bytes, raw: bytes, timestamp: int | None) -> Run | None:
        """Have the action handle an input of an idle key; return the run that has to begin, None when all is done."""
        core = self._core
        held = _new(HeldInput, (ticket, raw, timestamp))
        if core.unclaimed.has(key):
            return Run(core, key, held)
        event = input_event(core.ports.decode_input(raw))
        context = DirectContext(self.action, core, event, key, held)
        core.current = context
        core.thread = get_ident()
        try:
            returned = Context().run(self.action.function, event, context)
            if returned is not None:
                refuse_awaitable(self.action.name, returned)
        except (EngineStopped, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - the boundary of the author's code
            context.get_run().has_failed(error)
        finally:
            core.current = None
            execution = context.begun
            if execution is not None:
                execution.end()
        if core.failure is not None:
            raise EngineStopped
        if execution is None:
            core.effects.append(_new(InputFinished, (ticket, key)))
            return None
        self.rests_until_ms = core.now_ms + _REST_MS
        return execution.run


class BegunExecution(DefExecution):
    """An execution whose action has run when it is visited: what it did until it needed a run, and after that, counts as that visit."""

    __slots__ = ("_error",)

    def __init__(self, run: Run, action: CompiledAction, event: Event, outputs: int) -> None:
        super().__init__(run, 0, action, event, 0)
        self._error: BaseException | None = None
        self.outputs = outputs
        self.events = [None] * outputs

    def has_failed(self, error: BaseException) -> None:
        """Note what escaped the action."""
        self._error = error

    def end(self) -> None:
        """Seal it: its code has ended."""
        self.is_done = self.is_sealed = True

    def visit(self) -> None:
        """Deal with what escaped the action, if anything did."""
        error, self._error = self._error, None
        if error is not None:
            self.run.action_failed(self.action.name, error)


class DirectContext(ExecutionContext):
    """The context of an action that has no run as yet; sends outputs by itself.

    Thread: as `RunnerContext` says. While it is the engine's current one, and no other time, it may be used.
    """

    __slots__ = ("_action", "_core", "_event", "_held", "_outputs", "_run_key", "begun")

    def __init__(self, action: CompiledAction, core: EngineCore, event: Event, key: bytes, held: HeldInput) -> None:
        # What the base class keeps is made with the execution: most contexts never have one.
        self._action = action
        self._core = core
        self._event = event
        self._run_key = key
        self._held = held
        self._outputs = 0
        self.begun: BegunExecution | None = None
        """The execution, once one is needed."""

    def send_event(self, event: Event) -> None:
        """See `RunnerContext.send_event`."""
        core = self._core
        if type(event) is not OutputEvent or core.current is not self or core.thread != get_ident():
            super().send_event(event)
            return
        payload = core.ports.encode_output(event.output)
        core.effects.append(_new(Emit, (payload, self._held.timestamp, False, self._run_key)))
        self._outputs += 1

    def get_run(self) -> BegunExecution:
        """Return the execution, in a run of its own that goes on from here."""
        if self.begun is None:
            run = Run(self._core, self._run_key, self._held)
            self.begun = BegunExecution(run, self._action, self._event, self._outputs)
            run.adopt(self.begun)
            ExecutionContext.__init__(self, self.begun)
            if self._core.current is self:
                self._core.current = self.begun
        return self.begun

    def halt(self) -> None:
        """See `Execution.halt`."""

    def _enter(self, name: str) -> Execution:
        if self.begun is None:
            core = self._core
            if core.current is not self or core.thread != get_ident():
                raise misuse(self._action.name, name, has_ended=core.current is not self)
            self.get_run()
        return super()._enter(name)
