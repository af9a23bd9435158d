"""Several processes that belong together: started rung by rung, ended the other way round.

Used as a context manager: on every way out, an error or a signal included, nothing that it
started is left, unless it was told to let go.
"""

import uuid
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from cacheroute_cli.supervisor.ending import end_all, end_marked
from cacheroute_cli.supervisor.faults import CannotRun
from cacheroute_cli.supervisor.runner import Child, Program, spawn
from cacheroute_cli.supervisor.signals import Signals


class Stack:
    """Owner of a set of child processes."""

    def __init__(self, *, tethered: bool, grace_s: float = 10.0) -> None:
        self.name = uuid.uuid4().hex
        """Marks all its processes in their environment."""
        self.signals = Signals()
        self._tethered = tethered
        self._grace_s = grace_s
        self._rungs: list[list[Child]] = []
        self._let_go = False

    def start(self, *programs: Program) -> list[Child]:
        """Start a rung: programs that need those before them, and not each other.

        Raises CannotRun.
        """
        rung: list[Child] = []
        # Known to the stack one by one, so that a failure at the third ends the first two.
        self._rungs.append(rung)
        for program in programs:
            try:
                rung.append(spawn(program, stack=self.name, tethered=self._tethered))
            except OSError as problem:
                raise CannotRun(
                    f"{program.name} cannot be started ({problem})", log=str(program.log)
                ) from problem
        return list(rung)

    def children(self) -> list[Child]:
        """Return all that were started and not ended by us since."""
        return [child for rung in self._rungs for child in rung]

    def end(self, children: Iterable[Child]) -> None:
        """End some of the children now; another signal meanwhile cuts their grace short."""
        ending = list(children)
        end_all(
            [child.identity for child in ending],
            grace_s=self._grace_s,
            hurry=lambda: self.signals.ignored > 0,
        )
        for child in ending:
            child.exit_code()
        for rung in self._rungs:
            rung[:] = [child for child in rung if child not in ending]

    def let_go(self) -> None:
        """Leave the processes running when this ends; for detached ones."""
        self._let_go = True

    def close(self) -> None:
        """End everything, the last rung first."""
        self.signals.only_count()
        for rung in reversed(self._rungs):
            if rung:
                self.end(rung)
        end_marked(self.name)

    def __enter__(self) -> Self:
        self.signals.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if not self._let_go:
                self.close()
        finally:
            self.signals.__exit__(kind, problem, trace)
