"""YAML → agents. Owns the file format, its schema and its messages; must not know how an agent runs."""
