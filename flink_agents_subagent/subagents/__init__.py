"""Sub-agents as code calls them: setups, handles, results."""
