"""What the pages say about Kafka is what the example does, which needs a broker and is run by a test of its own."""

from __future__ import annotations

from tests.docs.pages import ROOT, blocks

_JOB = (ROOT / "examples" / "kafka_to_kafka" / "job.py").read_text(encoding="utf-8")


def test_the_code_on_kafka_is_that_of_the_example() -> None:
    """Each block that speaks of Kafka stands in the example's job, word for word [P7, P8]."""
    shown = [block for block in blocks(ROOT / "docs" / "agents.md") if "kafka" in block.code.lower()]

    assert len(shown) == 2
    assert [block.line for block in shown if block.code not in _JOB] == []
