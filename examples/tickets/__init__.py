"""Support tickets, sorted and answered by agents that a YAML file describes: `python -m examples.tickets.job`."""
