"""The sub-agents of examples/java-subagent: how their jar is built, the service that they ask, and an agent that calls them."""

from __future__ import annotations

import asyncio
import enum
import json
import os
import subprocess
import threading
from collections import defaultdict
from datetime import date
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from flink_agents_subagent import (
    Agent,
    InputEvent,
    JavaSubagent,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    action,
)
from flink_agents_subagent._flink.jar import JAR
from tests.flink.agents import ScriptedError
from tests.flink.board import Board, ask

__all__ = ["Line", "PriceService", "Pricing", "Quote", "Tier", "act", "build_example"]

_EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "java-subagent"


def build_example() -> Path:
    """Build the example as its reader would, and return its jar."""
    maven = [os.environ.get("MAVEN", "mvn"), "-B", "-ntp", "-q", "-f", str(_EXAMPLE / "pom.xml")]
    built = subprocess.run(  # noqa: S603 - the tool of the build
        [*maven, "clean", "package", f"-Dflink-agents-subagent.jar={JAR}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout
    return _EXAMPLE / "target" / "pricing.jar"


class PriceService:
    """The service over HTTP: a board behind it counts, holds and answers the questions; the keys are noted here.

    Thread: any.
    """

    def __init__(self, board: Board) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, board))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/"
        self.keys: dict[str, list[str]] = defaultdict(list)
        """Idempotency keys by question, in the order in which they came."""

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(service: PriceService, board: Board) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = self.rfile.read(int(self.headers["Content-Length"])).decode()
            service.keys[question].append(self.headers["Idempotency-Key"])
            answer = board.handle(question).encode()
            self.send_response(500 if answer == b"broken" else 200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler


class Tier(enum.Enum):
    """As in Java."""

    STANDARD = "STANDARD"
    GOLD = "GOLD"


class Line(BaseModel):
    """As in Java."""

    pieces: int
    price: Decimal


class Quote(BaseModel):
    """As in Java."""

    item: str
    total: Decimal
    tier: Tier
    validUntil: date  # noqa: N815 - the name in Java
    lines: list[Line]
    note: str | None


class Pricing(Agent):
    """Asks the Java sub-agents what its inputs say."""

    def __init__(self, service: str, name: str = "pricing") -> None:
        super().__init__(name)
        self.add_resource(
            "pricer",
            ResourceType.AGENT,
            JavaSubagent("com.acme.Pricer", args={"service": service, "dearest": 1000}, result_type=Quote),
        )
        self.add_resource(
            "credit",
            ResourceType.AGENT,
            JavaSubagent("com.acme.CreditCheck", args={"service": service}, status_poll_interval=0.05),
        )
        self.add_resource(
            "described",
            ResourceType.AGENT,
            ResourceDescriptor(clazz=JavaSubagent, class_name="com.acme.Pricer", args={"service": service}),
        )

    @action(InputEvent)
    @staticmethod
    async def follow(event: InputEvent, ctx: RunnerContext) -> None:
        """Do one step after the other."""
        order = json.loads(event.input)
        for verb, argument in order["do"]:
            if verb == "price":
                await _price(ctx, order, argument)
            elif verb == "together":
                await asyncio.gather(*(_price(ctx, order, each) for each in argument))
            elif verb == "check":
                await _check(ctx, order, argument)
            elif verb == "emit":
                ctx.send_event(OutputEvent(output=f"{ctx.key} {order['id']} {argument}"))
            elif ask(argument) == "fail":
                # Not durable on purpose: asked again by every replay.
                raise ScriptedError(argument)


def act(event: InputEvent, ctx: RunnerContext) -> None:
    """Do nothing."""


async def _check(ctx: RunnerContext, order: dict[str, Any], customer: str) -> None:
    result = await ctx.get_resource("credit", ResourceType.AGENT).submit(ctx, customer)
    ctx.send_event(OutputEvent(output=f"{ctx.key} {order['id']} {result.get_result(dict[str, int])}"))


async def _price(ctx: RunnerContext, order: dict[str, Any], argument: list[Any]) -> None:
    subagent, prompt, *timeout = argument
    setup = ctx.get_resource(subagent, ResourceType.AGENT)
    result = await setup.submit(ctx, prompt, timeout=timeout[0] if timeout else None)
    if not result.is_success:
        text = f"{result.reason}: {result.error_message}"
    else:
        quote = result.get_result(Quote)
        assert quote == Quote.model_validate(result.result)
        text = f"{quote!r}"
    ctx.send_event(OutputEvent(output=f"{ctx.key} {order['id']} {text}"))
