"""What may come next on the command line: commands and options of the tree, and live names.

Names of Instances are those on the screen; all others are where the shell's completion finds
them.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from cacheroute_cli.completing.candidates import Candidate, Place, candidates, place_of, split
from cacheroute_cli.completing.names import Names

MAX_CANDIDATES = 200


def completions(
    typed: str, known: Mapping[str, Any], *, ids: Sequence[str], own: Sequence[str] = ()
) -> list[str]:
    """Return whole lines that may be meant; `own` are words that only the console knows."""
    words = split(typed)
    current = words[-1]
    head = typed[: len(typed) - len(current)] if typed.endswith(current) else None
    if head is None or head.endswith(('"', "'")):
        # The last word is within quotes: what is typed stays as it is.
        return []
    place = place_of(known["tree"], words)
    names = Names(known["words"], known["tree"]["commands"])

    def of(source: str, at: Place) -> Sequence[Candidate]:
        if source == "instances":
            return [Candidate(word=one) for one in ids]
        return names.of(source, at)

    found = [one.word for one, _ in zip(candidates(place, of), range(MAX_CANDIDATES), strict=False)]
    if len(words) == 1:
        found += [word for word in own if word.startswith(current)]
    return [head + shlex.quote(word) for word in dict.fromkeys(found)]


def common_start(lines: Sequence[str]) -> str:
    """Return what all lines begin with."""
    if not lines:
        return ""
    first, last = min(lines), max(lines)
    at = next((at for at, letter in enumerate(first) if letter != last[at : at + 1]), len(first))
    return first[:at]
