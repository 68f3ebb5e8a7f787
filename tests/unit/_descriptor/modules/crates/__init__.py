"""A package of modules that cannot be imported."""
