"""The example job, and the run that kills it in the middle: `python -m examples.demo`."""
