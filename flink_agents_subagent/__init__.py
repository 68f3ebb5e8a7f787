"""Agents with durable calls and sub-agents for PyFlink."""

__all__: list[str] = []
