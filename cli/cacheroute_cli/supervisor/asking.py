"""A command's side of the supervisor's socket: asks one thing and hears what comes of it."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

import msgspec

from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.supervisor.messages import (
    MAX_LINE_BYTES,
    RemoteFault,
    Reply,
    Request,
    encode,
    read_reply,
)
from cacheroute_cli.supervisor.stack_home import StackHome

_CONNECT_TIMEOUT_S = 5.0


class NoSupervisor(Fault):
    """Nobody supervises the stack."""

    code = "stack.down"
    exit = Exit.NOT_FOUND


class SupervisorGone(Fault):
    """The supervisor left in the middle of an answer."""

    code = "stack.supervisor_gone"


class NotUnderstood(Fault):
    """The supervisor speaks another version's language."""

    code = "stack.not_understood"
    exit = Exit.NOT_UNDERSTOOD


class SupervisorSilent(Fault):
    """The supervisor is there, and says nothing."""

    code = "stack.supervisor_silent"
    exit = Exit.UNREACHABLE


def ask(
    home: StackHome,
    request: Request,
    tell: Callable[[str], None],
    *,
    silence_s: float | None = None,
) -> Reply:
    """Ask the supervisor of a stack, pass on what it tells, and return its last reply.

    Raises NoSupervisor, SupervisorSilent after so many seconds without a word, or whatever it
    met as a RemoteFault.
    """
    for reply in replies(home, request, silence_s=silence_s):
        if reply.told is not None:
            tell(reply.told)
        if reply.done:
            return reply
    raise SupervisorGone(
        f"the supervisor of stack {home.name} ended in the middle of {request.do!r}",
        hint=f"see {home.supervisor_log}",
    )


def replies(
    home: StackHome, request: Request, *, silence_s: float | None = None
) -> Iterator[Reply]:
    """Ask, and give every reply as it comes; raises as `ask` does."""
    with closing(connected(home)) as connection, connection.makefile("rb") as lines:
        connection.settimeout(silence_s)
        _send(home, connection, request)
        while (reply := _next(home, lines)) is not None:
            if reply.fault is not None:
                raise RemoteFault(reply.fault)
            yield reply


def connected(home: StackHome) -> socket.socket:
    """Return a connection to the supervisor of a stack; raises NoSupervisor."""
    record = home.supervisor()
    path = Path(record.socket) if record is not None else home.socket()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # As the supervisor binds it: a long path does not fit into an address.
        folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
        try:
            connection.settimeout(_CONNECT_TIMEOUT_S)
            connection.connect(f"/proc/self/fd/{folder}/{path.name}")
        finally:
            os.close(folder)
    except OSError:
        connection.close()
        raise NoSupervisor(
            f"stack {home.name} is not up", hint="bring it up with 'cacheroute up -d'"
        ) from None
    return connection


def _send(home: StackHome, connection: socket.socket, request: Request) -> None:
    try:
        connection.sendall(encode(request))
    except TimeoutError:
        raise _silent(home) from None
    except OSError:
        return  # it has left; what it said before that is still there to be read


def _next(home: StackHome, lines: IO[bytes]) -> Reply | None:
    try:
        line = lines.readline(MAX_LINE_BYTES)
    except TimeoutError:
        raise _silent(home) from None
    except OSError:
        return None
    if not line:
        return None
    try:
        return read_reply(line)
    except msgspec.MsgspecError as problem:
        raise NotUnderstood(
            f"the supervisor's answer is not understood: {problem}",
            hint="was CacheRoute updated meanwhile? 'cacheroute down' and 'cacheroute up -d' help",
        ) from None


def _silent(home: StackHome) -> SupervisorSilent:
    return SupervisorSilent(
        f"the supervisor of stack {home.name} says nothing", hint=f"see {home.supervisor_log}"
    )
