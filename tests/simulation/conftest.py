"""What the tests of generated agents leave behind."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _garbage_of_its_own() -> Iterator[None]:
    """Collect what a test abandoned while it is that test's.

    Generated agents leave tasks whose exceptions nobody asks for. Such a task complains when it is collected, which must not
    be in a later test, where it would count as a warning of that one.
    """
    yield
    gc.collect()
