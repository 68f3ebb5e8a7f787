"""How the engine stops. Owns the exception that unwinds an author's code after a fault that is not the author's to handle."""

from __future__ import annotations

__all__ = ["EngineStopped"]


class EngineStopped(BaseException):
    """Unwinds the author's code after an engine-fatal fault (E3.7).

    A `BaseException`, so that `except Exception` does not catch it. Code that catches it all the same changes nothing: the
    fault is kept by the engine, which looks at it whenever the author's code has returned.
    """
