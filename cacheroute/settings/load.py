"""From a file, the environment and the command line to one tree, or to every problem at once.

Command line, then `CACHEROUTE_*`, then the published flat names, then the file, then defaults:
the first that gives a value wins, and each value remembers who gave it.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from cacheroute.core.errors import ConfigError
from cacheroute.settings.crosschecks import Finding, cautions, contradictions
from cacheroute.settings.environment import flat_names_without_effect, read_flat, read_prefixed
from cacheroute.settings.layer import Given, Layer, render_inner
from cacheroute.settings.names import CONFIG_FILE_NAMES
from cacheroute.settings.options import OptionPath, options, sections
from cacheroute.settings.overrides import read_overrides
from cacheroute.settings.problems import located, scrub
from cacheroute.settings.tree import Settings, default_state_dir
from cacheroute.settings.values import InnerPath

DEFAULT = "default"
_MAX_PROBLEMS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Settings that hold, and where each came from."""

    settings: Settings
    origins: Mapping[str, str]
    """Who gave each setting, by its key: `default`, `gw.yaml:12`, `PROXY_CP_PORT` or `--set`."""
    warnings: tuple[str, ...] = ()
    """What somebody should know though it stops nothing, a sentence each."""
    notes: tuple[str, ...] = ()
    """What only somebody who looks for a cause wants to know, a sentence each."""
    config_file: Path | None = None
    """The file that was read."""


def load(
    config_file: Path | str | None = None,
    overrides: Iterable[str] = (),
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """Load and check the settings; ConfigError lists every problem, a line each.

    `overrides` are `key=value` texts. Without `config_file` the environment may name one.
    """
    environ = os.environ if environ is None else environ
    notes: list[str] = []
    path = Path(config_file) if config_file else _file_from(environ, notes)
    layers = [_file_layer(path, environ)] if path else []
    layers += [read_flat(environ), read_prefixed(environ), read_overrides(overrides, environ)]
    given: dict[OptionPath, Given] = {}
    hidden: dict[str, str] = {}
    for layer in layers:
        given |= layer.given
        hidden |= layer.hidden
    problems = [problem for layer in layers for problem in layer.problems]
    warnings = [warning for layer in layers for warning in layer.warnings]
    settings, invalid = _validate(given, environ)
    problems += invalid
    if settings is not None and not problems:
        problems += [_line(finding, given) for finding in contradictions(settings)]
    if settings is None or problems:
        problems.sort(key=lambda problem: _place_in(path, problem))
        raise ConfigError(_bounded([scrub(problem, hidden) for problem in problems]))
    warnings += [_line(finding, given) for finding in cautions(settings)]
    if unused := flat_names_without_effect(environ):
        notes.append(f"set but without effect in this version: {', '.join(unused)}")
    return Loaded(
        settings=settings,
        origins={
            option.key: given[path].written.origin if path in given else DEFAULT
            for path, option in options().items()
        },
        warnings=tuple(scrub(warning, hidden) for warning in warnings),
        notes=tuple(notes),
        config_file=path,
    )


def _file_from(environ: Mapping[str, str], notes: list[str]) -> Path | None:
    for name in CONFIG_FILE_NAMES:
        text = environ.get(name, "").strip()
        if text.lower().endswith(".toml"):
            notes.append(f"{name} names a TOML file, which is the console's and is not read here")
        elif text:
            return Path(text)
    return None


def _file_layer(path: Path, environ: Mapping[str, str]) -> Layer:
    from cacheroute.settings.file import read_file  # only where there is a file to read

    try:
        return read_file(path, environ)
    except ConfigError as error:
        return Layer(environ=environ, problems=error.problems)


def _validate(
    given: Mapping[OptionPath, Given], environ: Mapping[str, str]
) -> tuple[Settings | None, list[str]]:
    """Build the tree; after a failure again without what was wrong, so that nothing stays hidden.

    A section whose own rule fails reports one field only, and pydantic skips that rule while
    any field is of the wrong type: a single pass would show problems one start at a time.
    """
    left = dict(given)
    problems: list[str] = []
    while True:
        try:
            return Settings.model_validate(_nested(left, environ)), problems
        except ValidationError as error:
            found = [located(each, _fields_of) for each in error.errors(include_url=False)]
        problems += [_line(_unseen(finding, left), left) for finding in found]
        wrong = _touched(left, [where for where, _ in found]) or _touched(
            left, [where[:-1] for where, _ in found]
        )
        if not wrong:
            return None, problems
        for path in wrong:
            del left[path]


def _nested(given: Mapping[OptionPath, Given], environ: Mapping[str, str]) -> dict[str, object]:
    tree: dict[str, object] = {"state_dir": default_state_dir(environ)}
    for path, one in given.items():
        section = tree
        for part in path[:-1]:
            section = section.setdefault(part, {})  # type: ignore[assignment]
        section[path[-1]] = one.value
    return tree


def _fields_of(where: InnerPath) -> tuple[str, ...]:
    return sections().get(tuple(map(str, where)), ())


def _touched(given: Iterable[OptionPath], places: list[InnerPath]) -> set[OptionPath]:
    """Return the settings that stand at, above or below one of the places."""
    return {path for path in given for where in places if path[: len(where)] == where[: len(path)]}


def _unseen(finding: Finding, given: Mapping[OptionPath, Given]) -> Finding:
    """Blur what is said of a value that came from a reference: it may be a secret gone astray.

    Its sentence may repeat it in part or in other letters, where replacing cannot find it.
    """
    where, _ = finding
    for path, one in given.items():
        if where[: len(path)] == path and (reference := one.reference_at(where[len(path) :])):
            return where, f"is not valid with what {reference} holds"
    return finding


def _line(finding: Finding, given: Mapping[OptionPath, Given]) -> str:
    """Write a finding as one line, with the source of the value it is about."""
    where, text = finding
    for path, one in given.items():
        if where[: len(path)] == path:
            return f"{one.written.label_of(where[len(path) :])}: {text}"
    for path, one in given.items():
        if where[:-1] and path[:-1] == where[:-1]:  # a rule of a section: a neighbour broke it
            return f"{one.written.label}: {where[-1]} {text}"
    return f"{render_inner(where).removeprefix('.')}: {text}"


def _place_in(path: Path | None, problem: str) -> tuple[int, int]:
    """Order problems of the file by line, before all others."""
    line = problem.removeprefix(f"{path}:").partition(":")[0]
    return (0, int(line)) if path and problem.startswith(f"{path}:") and line.isdigit() else (1, 0)


def _bounded(problems: list[str]) -> list[str]:
    problems = list(dict.fromkeys(problems))
    more = len(problems) - _MAX_PROBLEMS
    return problems if more <= 0 else [*problems[:_MAX_PROBLEMS], f"and {more} more problems"]
