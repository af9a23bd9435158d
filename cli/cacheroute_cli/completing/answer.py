"""What a shell is told: first whether it shall look for files itself, then a word on each line."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from cacheroute_cli.completing.candidates import (
    Candidate,
    after_program,
    candidates,
    place_of,
    split,
)
from cacheroute_cli.completing.names import FILES, Names
from cacheroute_cli.completing.tree import load

MAX_CANDIDATES = 2000


def found_for(words: Sequence[str], folder: Path) -> list[Candidate] | None:
    """Return what may stand at the last word; None is for the shell to say: a file."""
    known = load(folder)
    place = place_of(known["tree"], words)
    if place.source == FILES and not place.current.startswith("-"):
        return None
    names = Names(known["words"], known["tree"]["commands"])
    return [one for one, _ in zip(candidates(place, names.of), range(MAX_CANDIDATES), strict=False)]


def for_bash(line: str, breaks: str, folder: Path) -> list[str]:
    """Answer bash, which replaces only what follows the last character that breaks words."""
    words = after_program(split(line))
    found = found_for(words, folder)
    if found is None:
        return [FILES]
    current = words[-1]
    kept = max((current.rfind(sign) for sign in ":=" if sign in breaks), default=-1) + 1
    return ["values", *(shlex.quote(one.word)[kept:] if kept else shlex.quote(one.word)
                        for one in found)]  # fmt: skip


def for_zsh(words: Sequence[str], folder: Path) -> list[str]:
    """Answer zsh: `word:help`, with the colons of the word escaped."""
    found = found_for(after_program(words), folder)
    if found is None:
        return [FILES]
    escaped = ((one.word.replace("\\", "\\\\").replace(":", "\\:"), one.help) for one in found)
    return ["values", *(f"{word}:{text}" if text else word for word, text in escaped)]


def for_fish(line: str, folder: Path) -> list[str]:
    """Answer fish: a word, a tab and its help."""
    found = found_for(after_program(split(line)), folder)
    if found is None:
        return [FILES]
    return ["values", *(f"{one.word}\t{one.help}" if one.help else one.word for one in found)]
