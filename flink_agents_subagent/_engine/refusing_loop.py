"""What an action's event loop does not do: everything that a replay could not repeat (E2.4)."""

from __future__ import annotations

import asyncio
from typing import Any, NoReturn

from flink_agents_subagent.errors import ContextMisuseError

__all__ = ["RefusingLoop"]


def _refuse(name: str) -> Any:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise ContextMisuseError(
            f"loop.{name} does not work inside an action, because a replay could not repeat what it does; "
            "put the work into a function and await ctx.durable_execute_async(function)"
        )

    refuse.__name__ = name
    return refuse


class RefusingLoop(asyncio.AbstractEventLoop):
    """Refuses I/O, threads, signals and life cycle, naming what to use instead."""

    add_reader = _refuse("add_reader")
    add_signal_handler = _refuse("add_signal_handler")
    add_writer = _refuse("add_writer")
    call_soon_threadsafe = _refuse("call_soon_threadsafe")
    close = _refuse("close")
    connect_accepted_socket = _refuse("connect_accepted_socket")
    connect_read_pipe = _refuse("connect_read_pipe")
    connect_write_pipe = _refuse("connect_write_pipe")
    create_connection = _refuse("create_connection")
    create_datagram_endpoint = _refuse("create_datagram_endpoint")
    create_server = _refuse("create_server")
    create_unix_connection = _refuse("create_unix_connection")
    create_unix_server = _refuse("create_unix_server")
    getaddrinfo = _refuse("getaddrinfo")
    getnameinfo = _refuse("getnameinfo")
    remove_reader = _refuse("remove_reader")
    remove_signal_handler = _refuse("remove_signal_handler")
    remove_writer = _refuse("remove_writer")
    run_forever = _refuse("run_forever")
    run_in_executor = _refuse("run_in_executor")
    run_until_complete = _refuse("run_until_complete")
    sendfile = _refuse("sendfile")
    set_debug = _refuse("set_debug")
    set_default_executor = _refuse("set_default_executor")
    set_exception_handler = _refuse("set_exception_handler")
    set_task_factory = _refuse("set_task_factory")
    shutdown_asyncgens = _refuse("shutdown_asyncgens")
    shutdown_default_executor = _refuse("shutdown_default_executor")
    sock_accept = _refuse("sock_accept")
    sock_connect = _refuse("sock_connect")
    sock_recv = _refuse("sock_recv")
    sock_recv_into = _refuse("sock_recv_into")
    sock_recvfrom = _refuse("sock_recvfrom")
    sock_recvfrom_into = _refuse("sock_recvfrom_into")
    sock_sendall = _refuse("sock_sendall")
    sock_sendfile = _refuse("sock_sendfile")
    sock_sendto = _refuse("sock_sendto")
    start_tls = _refuse("start_tls")
    stop = _refuse("stop")
    subprocess_exec = _refuse("subprocess_exec")
    subprocess_shell = _refuse("subprocess_shell")
