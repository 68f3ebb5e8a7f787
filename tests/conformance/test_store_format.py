"""The golden segments of the embedded store: what a release wrote stays readable for good."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from e2e.harness.journal import read_journal
from tests.conformance.vectors import vectors


@pytest.mark.parametrize(("given", "expected"), vectors("store-format"))
def test_a_pinned_segment_is_read(given: dict[str, Any], expected: dict[str, Any], tmp_path: Path) -> None:
    """A segment as the Java half writes it holds the given records for a reader of its own [S3.1]."""
    segment = tmp_path / "writer-1" / f"segment-{given['base']:020d}"
    segment.parent.mkdir()
    segment.write_bytes(bytes.fromhex(expected["segment"]))

    read = [(record.key.hex(), record.run_number, record.record_number) for record in read_journal(tmp_path)]

    assert read == [(record["key"], record["run_number"], record["record_number"]) for record in given["records"]]
