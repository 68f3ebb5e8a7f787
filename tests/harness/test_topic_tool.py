from __future__ import annotations

from pathlib import Path

import pytest

from e2e.harness.broker import KafkaBroker
from e2e.harness.kafka_log import LogRecord, read_log
from e2e.harness.processes import HarnessError
from e2e.harness.topic_tool import ForeignRecord, TopicTool

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

_OPTIONS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}


def _folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


def test_topics_of_two_brokers_are_administered(tmp_path: Path) -> None:
    """A topic has a replica on each broker; what is written can be read from their files; a right can be taken and given back."""
    first = KafkaBroker(_folder(tmp_path, "first"), _OPTIONS)
    with first, KafkaBroker(_folder(tmp_path, "second"), _OPTIONS, beside=first) as second:
        tool = TopicTool(f"{first.address},{second.address}")
        tool.create("orders", 2, 2)
        tool.set("orders", "min.insync.replicas", "2")

        offsets = tool.write("orders", 1, [ForeignRecord(b"value"), ForeignRecord(None, b"key", b"header")])
        tool.deny("orders", "Write")
        with pytest.raises(HarnessError, match="TopicAuthorizationException"):
            tool.write("orders", 0, [ForeignRecord(b"refused")])
        tool.allow("orders", "Write")

        assert offsets == [0, 1]
        assert tool.write("orders", 0, [ForeignRecord(b"taken")]) == [0]
        # Both are in sync, so that both have what was acknowledged.
        for broker in (first, second):
            assert read_log(broker.data, "orders") == [
                LogRecord(0, 0, None, b"taken", {}),
                LogRecord(1, 0, None, b"value", {}),
                LogRecord(1, 1, b"key", None, {"fas": b"header"}),
            ]
