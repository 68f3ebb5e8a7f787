"""Sub-agents and models behind providers and protocols: one module each, with its libraries behind an extra of the package."""
