"""Make the environments of all contestants: `python -m bench.setup_peers`. `python -m bench` does it on demand."""

from __future__ import annotations

import sys

from bench.contestants import CONTESTANTS
from bench.environments import SetupError
from bench.jars import jar_for


def main() -> int:
    """Make what is missing, say what is there and return the exit status."""
    for contestant in CONTESTANTS:
        try:
            environment = contestant.environment
            jar_for(environment)
        except SetupError as error:
            print(f"{contestant.title}: {error}", file=sys.stderr)
            return 1
        note = f" ({environment.note})" if environment.note else ""
        print(f"{contestant.title}: Flink {environment.flink_version}, {environment.python}{note}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
