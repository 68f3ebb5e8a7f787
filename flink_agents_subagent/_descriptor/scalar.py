"""Scalars by the core schema of YAML 1.2: `on` and `2024-01-01` are texts. Owns the rules; must not know places."""

from __future__ import annotations

import re
from collections.abc import Mapping

from flink_agents_subagent._descriptor.node import Scalar

__all__ = ["resolve_scalar"]

_LONGEST_NUMBER = 1000
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGERS = {10: re.compile(r"[-+]?[0-9]+"), 8: re.compile(r"0o[0-7]+"), 16: re.compile(r"0x[0-9a-fA-F]+")}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"([-+]?)\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def resolve_scalar(text: str) -> Scalar:
    """Return what a scalar without quotes is.

    Raises:
        ValueError: A whole number is too long to be one.
    """
    if text in _WORDS:
        return _WORDS[text]
    for base, pattern in _INTEGERS.items():
        if pattern.fullmatch(text):
            if len(text) > _LONGEST_NUMBER:
                raise ValueError(f"a number has at most {_LONGEST_NUMBER} digits; put a text in quotes")
            return int(text, base)
    if _FLOAT.fullmatch(text):
        return float(text)
    special = _SPECIAL.fullmatch(text)
    if special is None:
        return text
    return float(f"{special[1]}inf" if special[2] else "nan")
