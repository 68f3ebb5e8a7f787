"""What a run asks of Flink's REST interface. Owns addresses and answers; decides nothing."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from e2e.harness.processes import HarnessError

__all__ = ["Checkpoints", "FlinkRest", "Subtask"]

_TIMEOUT_S = 30


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """How many checkpoints of a job there were, and the last complete one."""

    completed: int
    failed: int
    restored: int
    last_path: str | None


@dataclass(frozen=True, slots=True)
class Subtask:
    """One parallel instance of a job vertex, and where it runs."""

    status: str
    taskmanager: str
    deployed_ms: int
    """When its current attempt was handed to that TaskManager, in milliseconds since 1970."""


class FlinkRest:
    """The REST interface of one cluster."""

    def __init__(self, port: int) -> None:
        self._root = f"http://127.0.0.1:{port}"

    def is_up(self) -> bool:
        """Whether the JobManager answers."""
        try:
            self._send("GET", "/overview")
        except HarnessError:
            return False
        return True

    def taskmanagers(self) -> set[str]:
        """Return the ids of the TaskManagers that the cluster counts as alive."""
        return {str(entry["id"]) for entry in self._send("GET", "/taskmanagers")["taskmanagers"]}

    def jobs(self) -> dict[str, str]:
        """Return the status of each job by its id."""
        return {str(job["id"]): str(job["status"]) for job in self._send("GET", "/jobs")["jobs"]}

    def status(self, job: str) -> str:
        """Return the status of a job, such as RUNNING."""
        return str(self._send("GET", f"/jobs/{job}")["state"])

    def subtasks(self, job: str) -> list[Subtask]:
        """Return the current attempt of every subtask."""
        vertices = [str(vertex["id"]) for vertex in self._send("GET", f"/jobs/{job}")["vertices"]]
        return [
            Subtask(str(entry["status"]), str(entry["taskmanager-id"]), int(entry["start-time"]))
            for vertex in vertices
            for entry in self._send("GET", f"/jobs/{job}/vertices/{vertex}")["subtasks"]
        ]

    def metric(self, job: str, name: str) -> float | None:
        """Return the largest value that a metric of this name (its last part) has in a subtask; None if none has told one yet.

        The JobManager hears of metrics now and then only (`metrics.fetcher.update-interval`).
        """
        values = [
            float(entry["max"])
            for vertex in self._send("GET", f"/jobs/{job}")["vertices"]
            for entry in self._metrics(f"/jobs/{job}/vertices/{vertex['id']}/subtasks/metrics", name)
        ]
        return max(values, default=None)

    def checkpoints(self, job: str) -> Checkpoints:
        """Return the checkpoint counts of a job."""
        answer = self._send("GET", f"/jobs/{job}/checkpoints")
        counts, last = answer["counts"], answer["latest"]["completed"]
        path = last["external_path"] if last else None
        return Checkpoints(counts["completed"], counts["failed"], counts["restored"], path)

    def failures(self, job: str) -> list[str]:
        """Return the exceptions of a job with their stacks, newest first."""
        entries = self._send("GET", f"/jobs/{job}/exceptions?maxExceptions=20")["exceptionHistory"]["entries"]
        return [str(entry["stacktrace"]) for entry in entries]

    def checkpoint(self, job: str) -> None:
        """Ask for a checkpoint now; `checkpoints` tells when it is complete."""
        self._send("POST", f"/jobs/{job}/checkpoints", {})

    def stop(self, job: str, directory: str) -> str:
        """Ask for the end of a job with a savepoint below `directory`; return the request's id."""
        answer = self._send("POST", f"/jobs/{job}/stop", {"targetDirectory": directory, "drain": False})
        return str(answer["request-id"])

    def savepoint(self, job: str, request: str) -> str | None:
        """Return the path of a savepoint, None while it is written.

        Raises:
            HarnessError: It failed.
        """
        answer = self._send("GET", f"/jobs/{job}/savepoints/{request}")
        if answer["status"]["id"] != "COMPLETED":
            return None
        operation = answer["operation"]
        if "location" not in operation:
            raise HarnessError(f"the savepoint of job {job} failed: {operation['failure-cause']['stack-trace']}")
        return str(operation["location"])

    def cancel(self, job: str) -> None:
        """Ask for the end of a job."""
        self._send("PATCH", f"/jobs/{job}?mode=cancel")

    def _metrics(self, path: str, name: str) -> list[dict[str, Any]]:
        known = [entry["id"] for entry in self._send("GET", path) if entry["id"].rpartition(".")[2] == name]
        found: list[dict[str, Any]] = self._send("GET", f"{path}?get={','.join(known)}&agg=max") if known else []
        return found

    def _send(self, method: str, path: str, content: Mapping[str, Any] | None = None) -> Any:
        data = None if content is None else json.dumps(content).encode()
        headers = {} if content is None else {"Content-Type": "application/json"}
        request = urllib.request.Request(self._root + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            detail = error.read().decode("utf-8", "replace")
            raise HarnessError(f"{method} {path} was answered with {error.code}: {detail}") from error
        except OSError as error:
            raise HarnessError(f"{method} {path}: the JobManager does not answer: {error}") from error
        return json.loads(text) if text else None
