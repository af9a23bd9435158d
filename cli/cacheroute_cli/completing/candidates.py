"""What may stand at the cursor: the words before it, read as the command line will read them."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

PROGRAM = "cacheroute"
Source = str | list[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One word that may stand there."""

    word: str
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the cursor is in the tree of commands."""

    current: str
    """The word at the cursor, as far as it is typed."""
    node: dict[str, Any]
    options: dict[str, dict[str, Any]]
    """Those that may stand here, by each of their names."""
    source: Source
    """Of the value that is due: of an option, or of an argument."""
    value_prefix: str = ""
    """`--option=` where the value is typed right behind it."""
    position: int = 0
    """How many words that are no options stand before, after the command."""
    wants_value: bool = False
    """Whether nothing but the value of an option may stand here."""
    given: dict[str, str] | None = None
    """Options with values that stand before, by their long name."""


def split(line: str) -> list[str]:
    """Split a line that may end within a quote; its last word may be empty."""
    # What is to be escaped is not typed yet.
    line = line[:-1] if (len(line) - len(line.rstrip("\\"))) % 2 else line
    for closing in ("", '"', "'"):
        try:
            found = shlex.split(line + closing)
        except ValueError:
            continue
        is_new = not line or line[-1].isspace()
        return [*found, ""] if is_new and not closing else found
    return [*line.split(), ""]


def after_program(words: Sequence[str]) -> list[str]:
    """Drop everything up to the name of the program, such as `sudo` and variables."""
    for at, word in enumerate(words[:-1]):
        if PurePath(word).name == PROGRAM:
            return list(words[at + 1 :])
    return list(words[1:]) or [""]


def place_of(tree: dict[str, Any], words: Sequence[str]) -> Place:
    """Find where the last of these words stands; the program's name is not among them."""
    *before, current = words
    node, options = tree, _by_name(tree)
    given: dict[str, str] = {}
    positional, plain_only = 0, False
    waiting: dict[str, Any] | None = None
    for word in before:
        if waiting is not None:
            given[waiting["names"][0]] = word
            waiting = None
        elif plain_only or not word.startswith("-") or word == "-":
            if not plain_only and word in node.get("commands", {}):
                node = node["commands"][word]
                options, positional = {**options, **_by_name(node)}, 0
            else:
                positional += 1
        elif word == "--":
            plain_only = True
        else:
            name, equals, value = word.partition("=")
            option = options.get(name)
            if option is not None and option["takes"]:
                if equals:
                    given[option["names"][0]] = value
                else:
                    waiting = option
    if waiting is not None:
        return Place(current=current, node=node, options=options, source=waiting["source"],
                     wants_value=True, given=given)  # fmt: skip
    name, equals, value = current.partition("=")
    if equals and name in options and options[name]["takes"] and not plain_only:
        return Place(current=value, node=node, options=options, source=options[name]["source"],
                     value_prefix=name + equals, wants_value=True, given=given)  # fmt: skip
    source = _argument(node, positional)
    if plain_only:
        options = {}
    return Place(
        current=current,
        node=node,
        options=options,
        source=source,
        position=positional,
        given=given,
    )


def candidates(
    place: Place, names: Callable[[str, Place], Sequence[Candidate]]
) -> Iterator[Candidate]:
    """Return what may stand there; `names` gives those of a source."""
    if place.current.startswith("-") and not place.wants_value:
        seen: set[int] = set()
        for option in place.options.values():
            if id(option) in seen:
                continue
            seen.add(id(option))
            long = [name for name in option["names"] if name.startswith("--")] or option["names"]
            for name in long:
                if name.startswith(place.current):
                    yield Candidate(word=name, help=option["help"])
        return
    if not place.wants_value and place.position == 0:
        for name, node in place.node.get("commands", {}).items():
            if name.startswith(place.current):
                yield Candidate(word=name, help=node["help"])
    match place.source:
        case None:
            return
        case str() as source:
            found = names(source, place)
        case values:
            found = [Candidate(word=value) for value in values]
    for one in found:
        if one.word.startswith(place.current):
            yield Candidate(word=place.value_prefix + one.word, help=one.help)


def _by_name(node: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: option for option in node["options"] for name in option["names"]}


def _argument(node: dict[str, Any], position: int) -> Source:
    arguments = node["arguments"]
    if position < len(arguments):
        return arguments[position]["source"]  # type: ignore[no-any-return]
    if arguments and arguments[-1]["many"]:
        return arguments[-1]["source"]  # type: ignore[no-any-return]
    return None
