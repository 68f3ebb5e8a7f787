from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, pages

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"#{1,6} (.+)")
_CODE = re.compile(r"```.*?```", re.DOTALL)


def _text(file: Path) -> str:
    return _CODE.sub("", file.read_text(encoding="utf-8"))


def _anchors(file: Path) -> set[str]:
    headings = [found[1] for line in _text(file).splitlines() if (found := _HEADING.fullmatch(line))]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _is_broken(file: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (file.parent / path).resolve() if path else file
    return not target.exists() or bool(anchor and target.suffix == ".md" and anchor not in _anchors(target))


@pytest.mark.parametrize("file", pages(), ids=lambda file: file.relative_to(ROOT).as_posix())
def test_relative_links_lead_somewhere(file: Path) -> None:
    """Each link to a file of the repository, or to a heading of one, finds it."""
    links = [link for link in _LINK.findall(_text(file)) if "://" not in link]

    assert [link for link in links if _is_broken(file, link)] == []


def test_every_page_is_reached_from_the_readme() -> None:
    """A page of `docs` that the README does not lead to, directly or over other pages, would not be found."""
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        file = waiting.pop()
        if file in seen or file.suffix != ".md":
            continue
        seen.add(file)
        links = [link.partition("#")[0] for link in _LINK.findall(_text(file)) if "://" not in link]
        targets = [(file.parent / link).resolve() for link in links if link]
        waiting += [path for target in targets for path in ([target] if target.is_file() else target.glob("*.md"))]

    assert [named.name for named in pages() if named not in seen] == []
