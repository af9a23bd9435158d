"""Whether a port can be had, and who has it when not.

A bind tells; the owner comes from the kernel's socket tables, where another user's
processes stay unnamed.
"""

import errno
import os
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cacheroute_cli.supervisor.faults import PortTaken
from cacheroute_cli.supervisor.identity import PROC, command_line, running_pids

_LISTENING = "0A"
_MAX_PORT = 65_535
_SECRETS = re.compile(
    r"(?P<name>--?[a-z-]*(?:token|key|password|secret)[= ]|\b[a-z_]*(?:api_key|token|password)=)"
    r"(?!env:)\S+",
    re.IGNORECASE,
)
"""Values that a command line may hold and that no terminal or log should repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A port that a process is going to listen on."""

    host: str
    port: int
    purpose: str
    """What for, in words: `control plane`."""
    option: str | None = None
    """The option that moves it elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Who listens on a port."""

    pid: int
    command: str | None


def read_port(text: str) -> int | None:
    """Return the port that a text names, 0 included; None for what is no port."""
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(_MAX_PORT))
    return int(text) if is_number and int(text) <= _MAX_PORT else None


def free_port() -> int:
    """Return a port of the loopback that nobody had a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(host: str, port: int) -> bool:
    """Whether nobody has the port; what else may stand in the way, the program itself says."""
    if port == 0:
        return True
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):  # a name that no DNS can have is a UnicodeError
        return True
    for family, kind, protocol, _, address in addresses:
        with socket.socket(family, kind, protocol) as probe:
            # As servers do it: connections of an earlier process that still linger don't count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(address)
            except OSError as problem:
                if problem.errno == errno.EADDRINUSE:
                    return False
    return True


def owner_of(port: int, *, proc: Path = PROC) -> Owner | None:
    """Return who listens on a TCP port; None when it cannot be told."""
    inodes = {f"socket:[{inode}]" for inode in _listening_inodes(port, proc)}
    if not inodes:
        return None
    for pid in running_pids(proc=proc):
        if _holds_any(pid, inodes, proc):
            return Owner(pid=pid, command=without_secrets(command_line(pid, proc=proc)))
    return None


def without_secrets(command: str | None) -> str | None:
    """Return a command line with what looks like a secret left out."""
    return command and _SECRETS.sub(r"\g<name>***", command)


def require_free(wanted: Iterable[Wanted]) -> None:
    """Check all ports before anything starts; raises PortTaken that names every owner."""
    taken = [want for want in wanted if not is_free(want.host, want.port)]
    if not taken:
        return
    owners = {want.port: owner_of(want.port) for want in taken}
    first, owner = taken[0], owners[taken[0].port]
    options = [want.option for want in taken if want.option]
    hint = f"stop it, or choose another port with {' and '.join(options)}" if options else None
    raise PortTaken(
        "\n".join(_taken_by(want, owners[want.port]) for want in taken),
        hint=hint,
        port=first.port,
        pid=owner.pid if owner else None,
        command=owner.command if owner else None,
    )


def _taken_by(want: Wanted, owner: Owner | None) -> str:
    by = "another user's process" if owner is None else f"pid {owner.pid}: {owner.command or '?'}"
    return f"port {want.port} for the {want.purpose} is taken by {by}"


def _listening_inodes(port: int, proc: Path) -> Iterable[str]:
    wanted = f":{port:04X}"
    for table in ("net/tcp", "net/tcp6"):
        try:
            lines = (proc / table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTENING and fields[1].endswith(wanted):
                yield fields[9]


def _holds_any(pid: int, sockets: set[str], proc: Path) -> bool:
    try:
        with os.scandir(proc / str(pid) / "fd") as descriptors:
            return any(_target_of(entry.path) in sockets for entry in descriptors)
    except OSError:
        return False


def _target_of(link: str) -> str | None:
    try:
        return os.readlink(link)
    except OSError:
        return None
