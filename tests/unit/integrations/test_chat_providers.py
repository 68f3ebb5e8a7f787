"""What holds for every provider of chat models: answers, failures, keys, and the client's life."""

from __future__ import annotations

import asyncio
import importlib
import sys
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle
import httpx
import pytest

from flink_agents_subagent import DefinitionError, load_agents
from flink_agents_subagent.chat import ChatMessage, ChatModelError, ChatModelUnavailableError, MessageRole
from flink_agents_subagent.integrations import anthropic, ollama, openai
from flink_agents_subagent.integrations._chat_provider import Meaning
from flink_agents_subagent.testing import Fault
from flink_agents_subagent.testing.http.log import read_log
from flink_agents_subagent.testing.http.loopback import Reply
from tests.unit.integrations.canned import canned
from tests.unit.integrations.chatting import KEY, OLLAMA, PROVIDERS, Provider, ask, body, user

_EVERY = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)


def failure(provider: Provider, folder: Path, reply: Reply | None = None, *faults: Fault, **settings: Any) -> Any:
    """Return the error of a request that is answered like this, after one request and no other."""
    with canned(folder, reply or Reply(200, provider.reply("never read"))) as server:
        server.replace_faults(faults)
        with pytest.raises(ChatModelError) as raised:
            ask(provider.connect(server, **settings))
        server.replace_faults([])
    assert len(read_log(folder / "canned").requests) == 1
    return raised.value


@_EVERY
def test_an_answer_has_its_text_usage_and_reason(provider: Provider, tmp_path: Path) -> None:
    """One naming for all: tokens of the whole prompt, cached or not, tokens of the answer, reason, model [C1]."""
    with canned(tmp_path, Reply(200, provider.reply("Grüße 🌍"))) as server:
        answer = ask(provider.connect(server), [user("héllo")])

    assert answer == ChatMessage(
        MessageRole.ASSISTANT,
        "Grüße 🌍",
        extra_args={
            "usage": {"input_tokens": 12, "output_tokens": 3},
            "finish_reason": "stop",
            "model": "model-1-2026",
        },
    )
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", provider.path)
    assert body(asked)["messages"] == [{"role": "user", "content": "héllo"}]
    assert KEY in (asked.headers.get("authorization", asked.headers.get("Authorization")) or asked.headers["x-api-key"])


@_EVERY
def test_a_call_id_is_the_idempotency_key(provider: Provider, tmp_path: Path) -> None:
    """It is sent where the SDK has a place for it, written so that a header can hold it [C1, C2]."""
    with canned(tmp_path, Reply(200, provider.reply("hi"))) as server:
        ask(provider.connect(server), call_id="a/b é")

    assert server.asked[0].key == ("" if provider is OLLAMA else "a%2Fb%20%C3%A9")


@_EVERY
def test_another_content_type_does_not_matter_as_long_as_it_is_json(provider: Provider, tmp_path: Path) -> None:
    """Some servers call everything text [C1]."""
    reply = Reply(200, provider.reply("hi"), {"Content-Type": "text/plain"})
    with canned(tmp_path, reply) as server:
        assert ask(provider.connect(server)).content == "hi"


@_EVERY
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_busy_and_broken_servers_are_worth_another_attempt(provider: Provider, status: int, tmp_path: Path) -> None:
    """The message names provider, model and status, and has what the provider says; no hint is none [C1, C2]."""
    error = failure(provider, tmp_path, Reply(status, provider.refusal("too busy today")))

    assert type(error) is ChatModelUnavailableError and error.retryable and error.retry_after is None
    assert provider.name in str(error).lower()
    assert f"model 'model-1', answered {status}: too busy today" in str(error)


@_EVERY
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after-ms": "1500", "Retry-After": "2"}, 1.5),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": format_datetime(datetime.now(timezone.utc) - timedelta(days=1), usegmt=True)}, 0.0),
    ],
)
def test_the_hint_of_a_busy_server_is_kept(
    provider: Provider, headers: dict[str, str], seconds: float | None, tmp_path: Path
) -> None:
    """Seconds, milliseconds, or a date, which has passed here; what cannot be read is no hint [C2]."""
    error = failure(provider, tmp_path, Reply(429, provider.refusal("slow down"), headers))

    assert error.retry_after == seconds


@_EVERY
def test_a_hint_may_be_a_date(provider: Provider, tmp_path: Path) -> None:
    """A date of HTTP, an hour ahead, is about an hour [C2]."""
    when = format_datetime(datetime.now(timezone.utc) + timedelta(hours=1), usegmt=True)
    error = failure(provider, tmp_path, Reply(503, provider.refusal("down"), {"Retry-After": when}))

    assert 3000 < error.retry_after <= 3600


@_EVERY
@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (400, ""),
        (401, "check the key in the environment variable TEST_KEY where the TaskManager runs"),
        (403, "the key may not use this model, or not from here"),
        (404, "check the name of the model and base_url"),
        (413, ""),
        (422, ""),
    ],
)
def test_what_is_refused_is_not_repeated(provider: Provider, status: int, remedy: str, tmp_path: Path) -> None:
    """Another attempt would get the same; the message has the remedy where there is one [C1, C2]."""
    error = failure(provider, tmp_path, Reply(status, provider.refusal("no, thanks")))

    assert type(error) is ChatModelError and not error.retryable
    assert str(error).endswith(f"answered {status}: no, thanks" + (f"; {remedy}" if remedy else ""))


@_EVERY
@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault("drop"), "was not answered"),
        (Fault("reset"), "was not answered"),
        (Fault("cut"), "was not answered: RemoteProtocolError"),
        (Fault("hold"), r"was not answered: ReadTimeout.*\(request_timeout is 0.5 s\)"),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
def test_lost_answers_are_worth_another_attempt(provider: Provider, fault: Fault, text: str, tmp_path: Path) -> None:
    """Connections that break, before, in or instead of an answer, and answers that do not come in time [C1, C2]."""
    error = failure(provider, tmp_path, None, fault, request_timeout=0.5)

    assert type(error) is ChatModelUnavailableError
    with pytest.raises(ChatModelUnavailableError, match=text):
        raise error


@_EVERY
def test_nobody_there_is_worth_another_attempt(provider: Provider, tmp_path: Path) -> None:
    """A refused connection names the address [C1, C2]."""
    with canned(tmp_path) as server:
        pass

    with pytest.raises(
        ChatModelUnavailableError, match=rf"at {server.url}.*, model 'model-1', was not answered: Connect"
    ):
        ask(provider.connect(server))


@_EVERY
def test_an_answer_that_is_no_json_is_told(provider: Provider, tmp_path: Path) -> None:
    """A page instead of an answer hints at a wrong address [C1]."""
    error = failure(provider, tmp_path, None, Fault("malformed"))

    assert type(error) is ChatModelError
    assert str(error).endswith("gave an answer that is no JSON: <html>not what was agreed; check base_url")


@_EVERY
@pytest.mark.parametrize("content", [{}, [], {"choices": [], "content": "x", "message": 3}], ids=["{}", "[]", "other"])
def test_an_answer_of_another_protocol_is_told(provider: Provider, content: Any, tmp_path: Path) -> None:
    """JSON that is not what the provider answers is not taken for an empty answer [C1]."""
    error = failure(provider, tmp_path, Reply(200, content))

    assert type(error) is ChatModelError and "base_url" in str(error)


@_EVERY
def test_messages_are_short_and_without_the_key(provider: Provider, tmp_path: Path) -> None:
    """Servers may echo the key, and send pages [C1]."""
    error = failure(provider, tmp_path, Reply(401, provider.refusal(f"bad key {KEY} " + "x" * 10_000)))

    assert KEY not in str(error) and "bad key (the key) xxx" in str(error)
    assert len(str(error)) < 800


@_EVERY
def test_the_key_does_not_travel_in_the_plan(provider: Provider, tmp_path: Path) -> None:
    """It is read where the connection is opened, and forgotten when it is closed [C1, R3]."""
    with canned(tmp_path, Reply(200, provider.reply("hi"))) as server:
        connection = provider.connect(server)
        before = cloudpickle.dumps(connection)
        ask(connection)

    assert KEY.encode() not in before
    assert KEY.encode() not in cloudpickle.dumps(connection)


@_EVERY
@pytest.mark.parametrize("value", [None, " \n"])
def test_a_missing_key_is_told_when_the_job_starts(
    provider: Provider, value: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening fails with the variable's name and where to set it [C1, R3]."""
    monkeypatch.delenv("TEST_KEY") if value is None else monkeypatch.setenv("TEST_KEY", value)

    with (
        canned(tmp_path) as server,
        pytest.raises(DefinitionError, match=r"variable TEST_KEY is not set where the TaskManager runs; set it there"),
    ):
        ask(provider.connect(server))


@_EVERY
def test_a_missing_sdk_names_the_extra(provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job can be described without it; opening says what to install [C1, R3]."""
    monkeypatch.setitem(sys.modules, provider.name, None)

    with canned(tmp_path) as server:
        connection = provider.connect(server)
        with pytest.raises(DefinitionError, match=rf"install flink-agents-subagent\[{provider.name}\] there"):
            ask(connection)


@_EVERY
@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"base_url": "localhost:8000"}, "base_url of .* is 'localhost:8000'; give an address like 'http://"),
        ({"base_url": "http://me:secret@host"}, "carries credentials"),
        ({"request_timeout": 0}, "request_timeout of .* is 0; give seconds above zero"),
        ({"request_timeout": "5"}, "request_timeout of .* is '5'"),
        ({"max_connections": 0}, "max_connections of .* is 0"),
        ({"temperature": 0}, r"has no argument temperature; what is for the provider goes into parameters"),
        ({"api_key_env": "sk-1234"}, "is no name of an environment variable"),
    ],
)
def test_settings_that_cannot_work_are_refused(provider: Provider, settings: dict[str, Any], text: str) -> None:
    """When the job is described, and without showing what may be a secret [C1, R2]."""
    with pytest.raises(DefinitionError, match=text) as raised:
        provider.connection(**settings)

    assert "secret" not in str(raised.value) and "sk-1234" not in str(raised.value)


@_EVERY
def test_requests_that_cannot_be_sent_are_refused(provider: Provider, tmp_path: Path) -> None:
    """No model, an answer in pieces, and a closed connection [C1]."""
    with canned(tmp_path) as server:
        connection = provider.connect(server)
        with pytest.raises(ChatModelError, match=r"without a model; give model='...' to the chat model's setup"):
            ask(connection, model=None)
        with pytest.raises(ChatModelError, match="cannot be asked with stream=True; leave it out"):
            ask(connection, stream=True)
        asyncio.run(connection.close())  # type: ignore[arg-type]
        with pytest.raises(ChatModelError, match="the connection is not open"):
            asyncio.run(connection.chat([user()], [], model="m"))  # type: ignore[arg-type]

    assert server.asked == []


@_EVERY
def test_requests_beyond_the_connections_wait_their_turn(provider: Provider, tmp_path: Path) -> None:
    """The second is sent when the first has ended, and its waiting is no time-out [C1]."""
    ended: list[str] = []

    async def do() -> None:
        connection = provider.connect(server, max_connections=1, request_timeout=0.5)
        await connection.open()  # type: ignore[misc]

        async def chat(text: str) -> None:
            try:
                await connection.chat([user(text)], [], model="m")  # type: ignore[misc]
            except ChatModelUnavailableError:
                text += " failed"
            ended.append(text)

        await asyncio.gather(chat("first"), chat("second"))
        await connection.close()  # type: ignore[misc]

    with canned(tmp_path, *(Reply(200, provider.reply("hi")) for _ in range(2))) as server:
        server.replace_faults([Fault("hold")])
        asyncio.run(do())
        server.replace_faults([])

    assert ended == ["first failed", "second"]


@_EVERY
def test_headers_and_parameters_are_those_of_connection_and_setup(provider: Provider, tmp_path: Path) -> None:
    """Parameters of the connection are for every request, those of the setup win; unknown ones are the provider's business [C1]."""
    with canned(tmp_path, Reply(200, provider.reply("hi"))) as server:
        connection = provider.connect(
            server, headers={"X-Team": "blue"}, parameters={"temperature": 0.5, "seed": 1, "brand_new": [1]}
        )
        ask(connection, temperature=0.25)

    (asked,) = server.asked
    found = body(asked)["options"] if provider is OLLAMA else body(asked)
    assert {name: found[name] for name in ("temperature", "seed", "brand_new")} == {
        "temperature": 0.25,
        "seed": 1,
        "brand_new": [1],
    }
    assert {name.lower(): value for name, value in asked.headers.items()}["x-team"] == "blue"


def exceptions_of(module: ModuleType, root: type[Exception]) -> set[type[Exception]]:
    """Return the exceptions that a module exports, those that it imports late too."""
    found = [getattr(module, name) for name in dir(module) if not name.startswith("_")]
    return {each for each in found if isinstance(each, type) and issubclass(each, root)}


@pytest.mark.parametrize(
    ("sdk", "base", "failures"),
    [
        ("openai", "OpenAIError", openai.OpenAIConnection.failures),
        ("anthropic", "AnthropicError", anthropic.AnthropicConnection.failures),
        ("ollama", "Exception", ollama.OllamaConnection.failures),
    ],
)
def test_every_exception_of_the_sdks_is_mapped(sdk: str, base: str, failures: dict[str, Meaning]) -> None:
    """A version of an SDK with one that the table does not name, and that is not about a status, fails here [C2]."""
    module = importlib.import_module(sdk)
    exceptions = exceptions_of(module, getattr(module, base, Exception))
    by_status = {each for each in exceptions if "APIStatusError" in {kind.__name__ for kind in each.__mro__}}

    assert exceptions and {each.__name__ for each in exceptions - by_status} - failures.keys() == set()


def test_every_exception_of_ollamas_http_client_is_mapped() -> None:
    """The SDK lets them through; each has a name of the table among its bases that says more than that HTTP failed [C2]."""
    told = ollama.OllamaConnection.failures.keys() - {"HTTPError", "RequestError"}
    unknown = {
        each for each in exceptions_of(httpx, httpx.HTTPError) if not told & {base.__name__ for base in each.__mro__}
    }

    assert unknown == {httpx.HTTPError, httpx.RequestError}


@_EVERY
def test_yaml_knows_the_arguments(provider: Provider, tmp_path: Path) -> None:
    """A slip of the pen in a file is found when it is checked, and what was meant is named [C1, R1]."""
    clazz = f"{provider.connection.__module__}:{provider.connection.__qualname__}"
    file = tmp_path / "agents.yaml"
    file.write_text(
        f"chat_model_connections:\n- {{name: provider, class: '{clazz}', args: {{max_conections: 3}}}}\n",
        encoding="utf-8",
    )

    with pytest.raises(DefinitionError, match="has no argument 'max_conections'; did you mean 'max_connections'"):
        load_agents(file)
