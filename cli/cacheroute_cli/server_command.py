"""Where a model server is going to listen, read from the command that starts it."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.supervisor.ports import read_port

_PORT_OF = {
    "vllm": 8000,
    "sglang": 30_000,
    "llama-server": 8080,
    "text-generation-launcher": 3000,
}
"""Ports that the servers we know take when their command names none."""

_WILDCARDS = frozenset({"", "0.0.0.0", "::", "[::]", "*"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCommand:
    """A command that starts a server, and where it will be found."""

    argv: tuple[str, ...]
    """Absolute path of the program, and its arguments."""
    name: str
    """What people call the program."""
    bind_host: str
    host: str
    """Where it is reached, as the Proxy is told."""
    port: int

    @property
    def url(self) -> str:
        """Base URL of the server."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def read_server_command(
    command: Sequence[str], *, port: int | None, advertise_host: str | None
) -> ServerCommand:
    """Read a command; raises UsageFault when it cannot be run or its port is unknown."""
    if not command:
        raise UsageFault(
            "there is no command to run",
            hint="write it behind two dashes: cacheroute instance run -- vllm serve MODEL",
        )
    program = shutil.which(command[0])
    if program is None:
        raise UsageFault(f"there is no program called {command[0]!r}")
    # A port of 0, any that is free, is known to the server alone.
    own_port = read_port(_option(command, "--port") or "") or None
    if port is not None and own_port is not None and port != own_port:
        raise UsageFault(f"--port says {port}, and the command itself says {own_port}")
    found = port or own_port or _PORT_OF.get(_server_name(command))
    if found is None:
        raise UsageFault(
            f"it is not known on which port {Path(command[0]).name} will listen",
            hint="say so with --port",
        )
    bind_host = _option(command, "--host") or "127.0.0.1"
    own_host = "127.0.0.1" if bind_host in _WILDCARDS else bind_host.strip("[]")
    return ServerCommand(
        argv=(str(Path(program).absolute()), *command[1:]),
        name=_server_name(command) or Path(command[0]).name,
        bind_host=bind_host.strip("[]"),
        host=advertise_host or own_host,
        port=found,
    )


def _server_name(command: Sequence[str]) -> str:
    """Return what kind of server is started, by its program or its module."""
    name = Path(command[0]).name
    if name.startswith("python") and "-m" in command[:-1]:
        return command[command.index("-m") + 1].split(".")[0]
    return name


def _option(command: Sequence[str], option: str) -> str | None:
    """Return the value of an option, however it is written; the last one counts."""
    found = None
    for at, word in enumerate(command):
        if word == option and at + 1 < len(command):
            found = command[at + 1]
        elif word.startswith(f"{option}="):
            found = word.partition("=")[2]
    return found
