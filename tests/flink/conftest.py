"""What all tests on a mini cluster share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.flink.board import Board

if TYPE_CHECKING:
    from tests.flink.mini_cluster import Folder, MiniCluster

_ROOT = Path(__file__).resolve().parents[2]
_FOLDER = Path(__file__).resolve().parent
_SECONDS = 180
"""The first test starts the JVM and the cluster, too."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests of this folder the time that jobs need, unless they say otherwise."""
    for item in items:
        if _FOLDER in item.path.parents and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(_SECONDS))


@pytest.fixture(scope="session")
def board() -> Iterator[Board]:
    """The notice board; before the JVM starts, which inherits its address."""
    made = Board()
    yield made
    made.close()


@pytest.fixture(scope="session")
def cluster(board: Board, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """The mini cluster; its log is kept where pytest keeps the folders of failed tests."""
    os.environ["FLINK_LOG_DIR"] = str(tmp_path_factory.mktemp("flink-log"))
    # The embedded Python finds this package and the agents of the tests as the JVM's environment says.
    os.environ["PYTHONPATH"] = str(_ROOT)
    os.environ["JVM_ARGS"] = "-Xmx1g"
    from tests.flink.mini_cluster import MiniCluster  # noqa: PLC0415 - imports PyFlink, which only these tests need

    made = MiniCluster()
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """The folders of one job."""
    from tests.flink.mini_cluster import Folder  # noqa: PLC0415 - as above

    return Folder(tmp_path)
