"""Which port every process of a stack gets: its own one, shifted, or one that is chosen once.

A chosen port is remembered with the process, so that a second `up` does not move it.
"""

from collections.abc import Callable, Mapping

from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.stackfile.tree import AUTO, Port
from cacheroute_cli.supervisor.ports import free_port

_MAX_PORT = 65_535
_ATTEMPTS = 64


class BadPorts(Fault):
    """The ports of a stack do not go together."""

    code = "stack.bad_ports"
    exit = Exit.USAGE


class PortBook:
    """Gives out ports, and sees to it that no two processes get the same."""

    def __init__(
        self,
        *,
        offset: int = 0,
        remembered: Mapping[str, Mapping[str, int]] | None = None,
        find: Callable[[], int] = free_port,
    ) -> None:
        self._offset = offset
        self._remembered = remembered or {}
        self._find = find
        self._owners: dict[int, str] = {}

    def number(self, process: str, name: str, port: Port, *, step: int = 0) -> int:
        """Return the port of a process; `step` counts on from a first one.

        Raises BadPorts for one that does not exist or is another process's.
        """
        if port == AUTO:
            return self._chosen(process, name)
        number = int(port) + step + self._offset
        if not 0 < number <= _MAX_PORT:
            raise BadPorts(
                f"the {name} port of {process} would be {number}; the last one is {_MAX_PORT}",
                hint="choose a smaller port or --port-offset",
            )
        self._take(number, process, name)
        return number

    def _chosen(self, process: str, name: str) -> int:
        remembered = self._remembered.get(process, {}).get(name)
        if remembered is not None and remembered not in self._owners:
            self._take(remembered, process, name)
            return remembered
        for _ in range(_ATTEMPTS):
            number = self._find()
            if number not in self._owners:
                self._take(number, process, name)
                return number
        raise BadPorts(f"no free port was found for {process} in {_ATTEMPTS} attempts")

    def _take(self, number: int, process: str, name: str) -> None:
        who = f"the {name} port of {process}"
        owner = self._owners.setdefault(number, who)
        if owner != who:
            raise BadPorts(
                f"port {number} is both {owner} and {who}",
                hint="give one of them another port, or auto",
            )
