"""What may go wrong on a cluster, as data, and what must hold all the same. `python -m e2e.scenarios` runs it."""
