"""From the author's objects to a frozen plan, to JSON, and back to what the engine runs."""
