"""The job server as a process of its own: `python -m flink_agents_subagent.testing.http --log FILE --announce FILE`."""

from __future__ import annotations

import importlib

from flink_agents_subagent.testing.http.job_server import Behaviour, JobHttpServer, return_prompt
from flink_agents_subagent.testing.http.loopback import run_as_process, server_arguments
from flink_agents_subagent.testing.http.run_table import Work


def main() -> None:
    """Serve until the process is ended."""
    parser = server_arguments(__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--duration-ms", type=int, nargs=2, default=(0, 0), metavar=("LEAST", "MOST"))
    parser.add_argument("--retry-after-s", type=int, help="Retry-After of a status that is not the last")
    parser.add_argument("--work", type=_work, default=return_prompt, help="module:function that makes the results")
    parser.add_argument("--seed", type=int, default=0, help="draws the requests that a fault's share hits")
    options = parser.parse_args()
    least, most = options.duration_ms
    behaviour = Behaviour(options.work, (least, most), options.retry_after_s)
    run_as_process(lambda: JobHttpServer(options.log, behaviour, options.port, options.seed), options.announce)


def _work(name: str) -> Work:
    module, _, function = name.partition(":")
    work: Work = getattr(importlib.import_module(module), function)
    return work


if __name__ == "__main__":
    main()
