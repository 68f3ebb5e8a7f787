"""A server that speaks the job protocol (docs/job-protocol.md), for tests of asynchronous and deferred sub-agents.

Owns the protocol's server side and the server's life; what runs do is in `run_table`, what goes wrong in `fault`.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, final
from urllib.parse import unquote

from flink_agents_subagent.testing.http.fault import Fault
from flink_agents_subagent.testing.http.log import ServerLog, read_log
from flink_agents_subagent.testing.http.loopback import Asked, LoopbackServer, Reply
from flink_agents_subagent.testing.http.run_table import ForgottenError, KeyReusedError, RunRequest, RunTable, Work

__all__ = ["Behaviour", "JobHttpServer", "JobServer", "RunRequest", "return_prompt"]

_ON_REQUESTS = frozenset({"submit", "status", "result", "cancel", "call"})
_OF_REQUESTS = frozenset({"status", "drop", "reset", "malformed", "cut", "delay", "hold"})
_OF_RUNS = frozenset({"delay", "hold", "fail", "expire"})


def return_prompt(request: RunRequest) -> Any:
    """Do the work that a server does when it is given none: the prompt is the result."""
    return request.prompt


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How a job server behaves when nothing goes wrong."""

    work: Work = return_prompt
    duration_ms: tuple[int, int] = (0, 0)
    """The least and the most that a run takes; which of it follows from its key."""
    retry_after_s: int | None = None
    """The Retry-After of a status that is not the last; None: there is none."""


class JobHttpServer(LoopbackServer):
    """The server itself; `JobServer` runs it on a thread, `python -m flink_agents_subagent.testing.http` as a process."""

    def __init__(self, log: Path, behaviour: Behaviour, port: int = 0, seed: int = 0) -> None:
        """Listen on the loopback interface."""
        super().__init__(log, port, seed)
        self._behaviour = behaviour
        self._runs = RunTable(behaviour.work, time.monotonic_ns, self.log.run)

    def is_for(self, fault: Fault, asked: Asked) -> bool:
        """Tell whether a fault of requests may hit this one."""
        return fault.kind in _OF_REQUESTS and fault.on in ("", _operation(asked))

    def check_fault(self, fault: Fault) -> None:
        """Refuse a fault that no request and no run can meet."""
        if fault.on == "run":
            if fault.kind not in _OF_RUNS:
                raise ValueError(f"a run cannot meet the fault {fault.kind!r}; give one of {sorted(_OF_RUNS)}")
        elif fault.kind not in _OF_REQUESTS:
            raise ValueError(f"a request cannot meet the fault {fault.kind!r}; give one of {sorted(_OF_REQUESTS)}")
        elif fault.on and fault.on not in _ON_REQUESTS:
            raise ValueError(f"there is no request {fault.on!r}; give one of {sorted(_ON_REQUESTS)}, or 'run'")

    def key_of(self, path: str) -> str:
        """Return the key of the run that a path names, encoded as it is in a header."""
        parts = path.split("/")
        return parts[2] if len(parts) > 2 and parts[1] == "runs" else ""

    def answer(self, asked: Asked) -> Reply:
        """Do what is asked for, once per key, and answer as the protocol says."""
        answers: dict[str, Callable[[Asked], Reply]] = {
            "submit": self._submit,
            "status": self._status,
            "result": self._result,
            "cancel": self._cancel,
            "call": self._call,
        }
        answer = answers.get(_operation(asked))
        if answer is None:
            return Reply(404, {"error": f"there is no {asked.method} {asked.path}"})
        if not asked.key:
            return Reply(400, {"error": "the Idempotency-Key is missing"})
        try:
            return answer(asked)
        except KeyReusedError as error:
            return Reply(409, {"error": str(error)})
        except ForgottenError as error:
            return Reply(410, {"error": str(error)})

    def _submit(self, asked: Asked) -> Reply:
        is_new = self._start(asked)
        if isinstance(is_new, Reply):
            return is_new
        try:
            reply = self._status(asked)
        except ForgottenError:
            if not is_new:
                raise
            # Whoever has just started it hears that it is done; what became of it is forgotten from now on.
            reply = Reply(201, {"state": "COMPLETED", "reason": None})
        headers = {**reply.headers, "Location": f"/runs/{asked.key}"}
        return Reply(201 if is_new else reply.status, reply.content, headers)

    def _status(self, asked: Asked) -> Reply:
        found = self._runs.state(_call_id(asked))
        if found is None:
            return _unknown(asked)
        headers = {}
        if not found.is_terminal and self._behaviour.retry_after_s is not None:
            headers["Retry-After"] = str(self._behaviour.retry_after_s)
        return Reply(200, {"state": found.state, "reason": found.reason}, headers)

    def _result(self, asked: Asked) -> Reply:
        found = self._runs.state(_call_id(asked))
        if found is None:
            return _unknown(asked)
        if found.state != "COMPLETED":
            return Reply(409, {"error": f"there is no result: the run is {found.state}"})
        return Reply(200, {"result": found.result})

    def _cancel(self, asked: Asked) -> Reply:
        self._runs.cancel(_call_id(asked))
        return Reply(200, {})

    def _call(self, asked: Asked) -> Reply:
        """Answer when the run has ended, as a service of the deferred kind does."""
        is_new = self._start(asked)
        if isinstance(is_new, Reply):
            return is_new
        time.sleep(self._duration_ms(asked.key) / 1000 if is_new else 0)
        while True:
            found = self._runs.state(_call_id(asked))
            if found is None or found.is_terminal:
                break
            time.sleep(0.01)
        if found is not None and found.state == "COMPLETED":
            return Reply(200, {"result": found.result})
        return Reply(422, {"error": "the run is gone" if found is None else found.reason or found.state})

    def _start(self, asked: Asked) -> bool | Reply:
        try:
            content = json.loads(asked.body)
            request = RunRequest(content["prompt"], content["session_id"], _call_id(asked))
        except (KeyError, TypeError, ValueError) as error:
            return Reply(400, {"error": f"the content is not what was agreed: {type(error).__name__}: {error}"})
        return self._runs.start(request, asked.body, self._duration_ms(asked.key), lambda: self.faults.take(_of_runs))

    def _duration_ms(self, key: str) -> float:
        least, most = self._behaviour.duration_ms
        return least + hashlib.sha256(key.encode()).digest()[-1] / 255 * (most - least)


def _operation(asked: Asked) -> str:
    """Return what a request asks for, empty when the protocol has no such request."""
    match asked.method, asked.path.split("/")[1:]:
        case "POST", ["runs"]:
            return "submit"
        case "POST", ["calls"]:
            return "call"
        case "GET", ["runs", _]:
            return "status"
        case "GET", ["runs", _, "result"]:
            return "result"
        case "POST", ["runs", _, "cancel"]:
            return "cancel"
        case _:
            return ""


def _of_runs(fault: Fault) -> bool:
    return fault.on == "run"


def _call_id(asked: Asked) -> str:
    return unquote(asked.key, errors="surrogatepass")


def _unknown(asked: Asked) -> Reply:
    return Reply(404, {"error": f"there is no run {_call_id(asked)!r}"})


@final
class JobServer:
    """A job server on a thread of this process, for the `with` block that it opens.

    Guarantee: one run per idempotency key, whatever requests are repeated or lost; every request and every start is in the log
        before it is answered.
    Thread: any. `work` runs on the thread of a request.
    """

    def __init__(
        self,
        log: Path | str,
        *,
        work: Work = return_prompt,
        duration_ms: tuple[int, int] = (0, 0),
        retry_after_s: int | None = None,
        seed: int = 0,
    ) -> None:
        """Describe a server.

        Args:
            log: File that gets what the server sees and does, a line each; one that exists is continued.
            work: Makes the result of a run from what it is given; an exception fails the run. Without it the prompt is the result.
            duration_ms: The least and the most that a run takes; which of it follows from its key.
            retry_after_s: The Retry-After of a status that is not the last; None: there is none.
            seed: Draws the requests that a fault's `share` hits.
        """
        self._log = Path(log)
        self._behaviour = Behaviour(work, duration_ms, retry_after_s)
        self._seed = seed
        self._server: JobHttpServer | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> JobServer:
        server = JobHttpServer(self._log, self._behaviour, seed=self._seed)
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="job server", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    @property
    def url(self) -> str:
        """The address, without a slash at its end."""
        if self._server is None:
            raise RuntimeError("the job server has no address before `with` has started it")
        return f"http://127.0.0.1:{self._server.server_port}"

    def set_faults(self, *faults: Fault) -> None:
        """Replace the faults to come, and release what earlier ones hold.

        Raises:
            ValueError: There is no such request, or a request or a run cannot meet such a fault.
        """
        if self._server is None:
            raise RuntimeError("the job server takes no faults before `with` has started it")
        self._server.replace_faults(faults)

    def log(self) -> ServerLog:
        """Return what the server has seen and done so far."""
        return read_log(self._log)
