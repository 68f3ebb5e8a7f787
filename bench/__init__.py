"""Benchmarks: our jobs and their peers, run side by side. `python -m bench` prints one table; README.md says how."""
