"""A module that fails when it is imported."""

raise OSError("no such disk")
