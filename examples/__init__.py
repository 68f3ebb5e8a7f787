"""Examples: each a job as a user would write it."""
