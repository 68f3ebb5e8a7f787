"""What docs/java-subagents.md shows besides Python: its Java is compiled, its build is the example's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flink_agents_subagent import JavaSubagent, NotExpressibleError, ResourceDescriptor, ResourceType, load_agents
from flink_agents_subagent.subagents.normalization import normalize
from tests.docs.pages import ROOT, page

_PAGE = ROOT / "docs" / "java-subagents.md"
_EXAMPLE = ROOT / "examples" / "java-subagent"


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize(
    ("language", "file"), [("java", "src/main/java/com/acme/Pricer.java"), ("xml", "pom.xml")], ids=["java", "xml"]
)
def test_what_the_page_shows_is_what_is_built(language: str, file: str) -> None:
    """The code is a part of the example, which tests/flink builds with Maven and calls from a job [B1]."""
    (block,) = _blocks(language)

    assert block in (_EXAMPLE / file).read_text(encoding="utf-8")


@pytest.mark.logs_warning
def test_the_refusal_on_the_page_is_that_of_the_code() -> None:
    """The message is quoted as it is [B4]."""
    line = page("java-subagents").Line(pieces=1, price="37.50")

    with pytest.raises(NotExpressibleError) as caught:
        normalize({"lines": [{"price": line.price}]}, "prompt")

    assert f"`{caught.value}`" in _PAGE.read_text(encoding="utf-8")


def test_the_interfaces_of_the_page_exist() -> None:
    """Names of interfaces and of their methods are those of the Java package [B1]."""
    package = ROOT / "java-bridge" / "src" / "main" / "java" / "io" / "github" / "flinkagents" / "subagent" / "api"
    rows = re.findall(r"^\| `(\w+Subagent)` \| (.*) \|$", _PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert {name for name, _ in rows} == {"DeferredSubagent", "ReconcilingSubagent", "AsyncSubagent"}
    for name, methods in rows:
        source = (package / f"{name}.java").read_text(encoding="utf-8")
        assert all(f" {method}(SubagentRequest request)" in source for method in re.findall(r"`(\w+)`", methods))


def test_the_yaml_of_the_page_is_the_same_sub_agent(tmp_path: Path) -> None:
    """A file describes what the constructor makes [R1, B2]."""
    (block,) = _blocks("yaml")
    actions = "    actions:\n      - {function: 'operator:add', events: [InputEvent]}\n"
    file = tmp_path / "agents.yaml"
    file.write_text("agents:\n  - name: sales\n" + actions + block, encoding="utf-8")

    built = load_agents(file).agent("sales").resources["pricer", ResourceType.AGENT]

    assert isinstance(built, ResourceDescriptor)
    assert built.clazz is JavaSubagent
    made = JavaSubagent(**built.arguments)
    assert (made.class_name, made._args, made._arguments) == (
        "com.acme.Pricer",
        {"service": "http://prices:8080/"},
        {"timeout": 30},
    )


def test_the_page_names_the_package_of_the_jar() -> None:
    """Group, artifact and version are those of the Java half."""
    pom = (ROOT / "java-bridge" / "pom.xml").read_text(encoding="utf-8")
    (block,) = _blocks("xml")

    for element in ("groupId", "artifactId", "version"):
        found = re.search(rf"<{element}>.*</{element}>", block)
        assert found is not None
        assert found[0] in pom
