"""docker-compose.yml as data. Owns how it is read; judges nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

__all__ = ["COMPOSE", "ROOT", "command", "services"]

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = YAML(typ="safe").load(ROOT / "docker-compose.yml")


def services() -> dict[str, Any]:
    """Return the services by name."""
    return dict(COMPOSE["services"])


def command(service: str) -> list[str]:
    """Return the command of a service, that of its shell for one that has one; empty: the image's own."""
    given: list[str] = services()[service].get("command", [])
    return given[2].split() if given[:2] == ["sh", "-c"] else given
