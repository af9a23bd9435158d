"""The keys of the console by the ids they are remapped by, and what is wrong with a remapping.

The screens take their keys from here, and the configuration is checked against the same table.
Of a screen's own keys and the common ones under the same name, only its own work there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

EVERYWHERE: Mapping[str, str] = {
    "help": "question_mark", "quit": "q", "quit.now": "ctrl+c", "suspend": "ctrl+z",
    "pause": "p", "step.back": "left_curly_bracket", "step.on": "right_curly_bracket",
    "refresh": "full_stop", "slower": "minus", "faster": "plus,equals_sign",
    "theme": "t", "explain": "e", "context": "C", "clear": "c", "back": "escape",
    **{f"screen.{number}": str(number) for number in range(1, 10)},
    "previous": "backspace", "command": "colon", "palette": "ctrl+p", "copy.id": "y",
    "copy.json": "Y", "silence": "x", "screenshot": "S", "drain": "d", "undrain": "u",
    "row.down": "down,j", "row.up": "up,k", "row.page_down": "pagedown", "row.page_up": "pageup",
    "row.first": "g,home", "row.last": "G,end", "column.left": "left,h",
    "column.right": "right,l",
}  # fmt: skip
_LISTS: Mapping[str, str] = {
    "filter": "slash", "sort": "s", "sort.left": "less_than_sign",
    "sort.right": "greater_than_sign", "sort.reverse": "r", "all": "a", "faults": "f",
    "wide": "w", "mark": "space",
}  # fmt: skip
_CHARTS: Mapping[str, str] = {
    "window.shorter": "left_square_bracket", "window.longer": "right_square_bracket",
}  # fmt: skip
SCREENS: Mapping[str, tuple[Mapping[str, str], ...]] = {
    "overview": (_LISTS, _CHARTS, {"overview.open": "enter"}),
    "instances": (_LISTS, {"instances.open": "enter"}),
    "instance": ({"instance.next": "n", "instance.before": "N"},),
    "resources": (
        _LISTS, _CHARTS,
        {
            "resources.charts": "v", "resources.bars": "b", "resources.stale": "i",
            "resources.reported": "m",
        },
    ),
    "queues": (_LISTS, _CHARTS, {"queues.panel": "v"}),
    "scores": (
        {
            "scores.what_if": "w", "scores.plain": "W", "scores.excluded": "a",
            "scores.explain": "e", "scores.open": "enter", "scores.search": "slash",
            "scores.next": "n", "scores.previous": "N", "scores.pane": "tab",
        },
    ),
    "topology": ({"topology.faults": "f"},),
    "traces": (_LISTS, {"traces.slow": "v"}),
    "processes": (
        _LISTS,
        {
            "log.grep": "ampersand", "log.wrap": "w", "log.hold": "z", "log.one": "enter",
            "log.pager": "o", "log.focus": "tab", "processes.start": "u",
            "processes.stop": "d", "processes.restart": "R",
        },
    ),
    "raw": (
        {
            "raw.search": "slash", "raw.next": "n", "raw.previous": "N", "raw.wrap": "w",
            "raw.pane": "tab",
        },
    ),
}  # fmt: skip
"""What each screen has beside the common ones; the later outranks the earlier."""
KEYS: Mapping[str, str] = {
    **EVERYWHERE,
    **{
        key: pressed
        for parts in SCREENS.values()
        for part in parts
        for key, pressed in part.items()
    },
}
"""Every id and its keys, as the toolkit names them, with commas between."""

_APP = "app."
_SIGNS = {
    "/": "slash", "\\": "backslash", "-": "minus", "+": "plus", "_": "underscore", "@": "at",
}  # fmt: skip
"""Those that the toolkit calls otherwise than the standard does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyProblem:
    """One remapping that does not hold."""

    id: str
    """As it was written."""
    why: str
    """What is wrong with it, to go on behind its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remapped:
    """A remapping, sorted into what holds and what does not."""

    keys: Mapping[str, str]
    """By id; actions whose remapping does not hold keep their own keys."""
    problems: tuple[KeyProblem, ...]


def remapped(said: Mapping[str, str]) -> Remapped:
    """Sort a remapping; an id may also be written as the action of the app: `app.pause`."""
    keys: dict[str, str] = {}
    written: dict[str, str] = {}
    problems = []
    for name, pressed in said.items():
        key = name if name in KEYS else name.removeprefix(_APP)
        if key not in KEYS:
            problems.append(KeyProblem(id=name, why=f"is not known{_meant(key)}"))
        elif key in keys:
            problems.append(KeyProblem(id=name, why=f"is {written[key]} once more"))
        else:
            keys[key], written[key] = pressed, name
    while (clash := next(_clashes(keys), None)) is not None:
        key, other, pressed = clash
        why = f"is {pressed!r}, and so is {other}"
        problems.append(KeyProblem(id=written[key], why=why))
        del keys[key]
    return Remapped(keys=keys, problems=tuple(problems))


def _meant(key: str) -> str:
    near = get_close_matches(key, KEYS, n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else "; the help of a screen (?) lists its keys"


def _clashes(remapping: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Give each remapped id whose key another one has too on some screen, with that one."""
    rank = {key: at for at, key in enumerate(remapping)}
    for parts in SCREENS.values():
        usual = _of_screen(parts)
        taken: dict[str, str] = {}
        # Who keeps its own key has the first right to it, then whoever is named first.
        for key in sorted(usual, key=lambda one: rank.get(one, -1)):
            for pressed in remapping.get(key, usual[key]).split(","):
                other = taken.setdefault(_name_of(pressed.strip()), key)
                if other != key and key in remapping:
                    yield key, other, pressed.strip()


def _of_screen(parts: tuple[Mapping[str, str], ...]) -> dict[str, str]:
    """Return the keys of one screen, without those that its own ones cover."""
    found: dict[str, str] = {}
    for part in (EVERYWHERE, *parts):
        covered = {name for pressed in part.values() for name in pressed.split(",")}
        found = {k: v for k, v in found.items() if not covered.intersection(v.split(","))}
        found |= part
    return found


def _name_of(pressed: str) -> str:
    """Return how the toolkit calls a key that may be written as its sign."""
    if len(pressed) != 1 or pressed.isalnum():
        return pressed
    from unicodedata import name

    return _SIGNS.get(pressed) or name(pressed, pressed).lower().replace(" ", "_").replace("-", "_")
