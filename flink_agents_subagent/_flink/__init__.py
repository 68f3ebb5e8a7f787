"""The only package that imports pyflink or pemja: submission on one side, the entry points that Java calls on the other."""
