from __future__ import annotations

import pytest

from tests.unit.integrations.chatting import KEY


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the key where connections of tests look for it, ended as files end."""
    monkeypatch.setenv("TEST_KEY", f"{KEY}\n")
