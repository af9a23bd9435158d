"""The configuration of one command: options over variables over files over defaults.

Reading a file never fails; what is wrong is a list of sentences, and whoever cannot go on with
them raises BadConfig.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cacheroute_cli.config.layers import InForce, Layer, in_force
from cacheroute_cli.config.places import Places, places
from cacheroute_cli.config.sources import (
    from_options,
    from_stack_file,
    from_toml,
    from_variables,
)
from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import UsageFault

_NO_SUCH_FILE = "there is no such file"


class BadConfig(UsageFault):
    """The configuration cannot be used; each line of the message is one thing to mend."""

    code = "config.invalid"


class UnknownContext(UsageFault):
    """A context that no file has."""

    code = "config.unknown_context"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What holds, and the files it is from."""

    in_force: InForce
    places: Places
    read: tuple[Path, ...]
    """The files that are there, the highest first."""
    empty: tuple[Path, ...] = ()
    """Those of them that say nothing at all."""

    def require_readable(self) -> None:
        """Raise BadConfig when something in the files is wrong."""
        if problems := self.in_force.problems:
            raise BadConfig(
                "\n".join(problems), hint=self._way_out(problems), problems=list(problems)
            )

    def require_good(self) -> None:
        """Raise BadConfig or UnknownContext also for what only the console would go without."""
        from cacheroute_cli.config.doubts import doubts

        held = self.required()
        if found := doubts(held.values):
            raise BadConfig("\n".join(found), hint=self._way_out(found), problems=found)

    def _way_out(self, problems: Sequence[str]) -> str:
        if any(problem.startswith(tuple(map(str, self.read))) for problem in problems):
            return (
                "'cacheroute config edit' opens your file, 'cacheroute config path' names them all"
            )
        if any(problem.endswith(_NO_SUCH_FILE) for problem in problems):
            return "'cacheroute config init' writes one there"
        return "set the variable to something else, or unset it"

    def required(self) -> InForce:
        """Return what holds; raises BadConfig or UnknownContext when it cannot be used."""
        self.require_readable()
        held = self.in_force
        if held.context is not None and held.context not in held.contexts:
            raise unknown_context(held.context, held, origin=held.context_origin)
        return held


def unknown_context(name: str, held: InForce, *, origin: str | None = None) -> UnknownContext:
    """Return the fault of a context that is not there, with those that are."""
    known = ", ".join(held.contexts)
    said = f"{origin}: " if origin else ""
    return UnknownContext(
        f"{said}there is no context {name!r}",
        hint=f"there are {known}" if known else "'cacheroute context add' makes one",
        context=name,
        known=list(held.contexts),
    )


def load(
    given: Given, environ: Mapping[str, str] | None = None, here: Path | None = None
) -> Loaded:
    """Read all sources."""
    environ = os.environ if environ is None else environ
    where = places(given.config_file, environ, here or Path())
    layers = [from_options(given), *from_variables(environ)]
    read: list[Path] = []
    empty: list[Path] = []
    if where.stack is not None:
        layers.append(from_stack_file(where.stack))
        read.append(where.stack)
    for path in (where.user, *where.system):
        if path is not None and (layer := from_toml(path)) is not None:
            layers.append(layer)
            read.append(path)
            if layer.is_empty:
                empty.append(path)
    if where.is_named and where.user not in read:
        layers.append(Layer(problems=[f"{where.user}: {_NO_SUCH_FILE}"]))
    held = in_force(layers)
    return Loaded(in_force=held, places=where, read=tuple(read), empty=tuple(empty))
