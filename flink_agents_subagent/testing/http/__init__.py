"""Servers on the loopback interface for tests of what calls the outside world. Standard library only."""

from flink_agents_subagent.testing.http.fault import Fault
from flink_agents_subagent.testing.http.job_server import JobServer, RunRequest
from flink_agents_subagent.testing.http.log import Request, ServerLog, read_log

__all__ = ["Fault", "JobServer", "Request", "RunRequest", "ServerLog", "read_log"]
