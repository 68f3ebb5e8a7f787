"""Our jobs, one module a measure, named like the peers' (pf1.py, pf2.py, …). A measure without a module here is run for the peers only."""
