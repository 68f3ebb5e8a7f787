"""End-to-end runs: real clusters, real processes, real deaths."""
