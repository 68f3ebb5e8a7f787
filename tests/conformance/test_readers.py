"""No vector is left unread: `tests/vectors/readers.json` says which language reads which folder, and each side holds itself to it."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_FOLDER = _HERE.parent / "vectors"
_READERS: dict[str, list[str]] = json.loads((_FOLDER / "readers.json").read_text(encoding="utf-8"))


def _kinds_read(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id="vectors"), args=[ast.Constant(value=str(kind))]):
                yield kind


def test_every_vector_has_its_readers() -> None:
    """Each folder is listed with at least one language, and each listed folder exists [T12]."""
    folders = {path.name for path in _FOLDER.iterdir() if path.is_dir()}

    assert folders == set(_READERS)
    assert all(readers in (["python"], ["java"], ["java", "python"]) for readers in _READERS.values())


def test_python_reads_what_it_is_to_read() -> None:
    """The tests beside this one read each folder listed for Python, and no other [T12]."""
    read = {kind for file in _HERE.glob("test_*.py") for kind in _kinds_read(file)}

    assert read == {kind for kind, readers in _READERS.items() if "python" in readers}
