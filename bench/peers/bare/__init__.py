"""The limit: a Java operator that calls one Python function per record and does nothing else."""
