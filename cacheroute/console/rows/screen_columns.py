"""The columns that a screen of Instances can be told to have: those of the list, and drawings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from cacheroute.console.rows.instances import INSTANCES

DRAWN: Mapping[str, str] = {
    "trend": "Requests it worked on over the last looks, the newest right; a dot is a gap.",
    "parts": "The score as letters, one a point: i inflight, p prepare, r ready, f prefill, "
    "d decode, b backlog, q requests a second; fewer, and of all rows alike, where the highest "
    "score has no room; or why it is not in the choice.",
    "network": "What its host receives and sends.",
    "ttft_p95": "Time to first token that 95 of 100 of its last requests kept to, of at most 64 "
    "within 10 min; a dash where none has told.",
}
"""Columns that only a screen has, and what they mean."""
_SIGN = "sign"
_KEY_OF = {name: column.key for column in INSTANCES.columns for name in column.names}


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedOut:
    """Names of columns, sorted into what there is and what there is not."""

    keys: tuple[str, ...]
    """The columns, each once, behind the sign of the state."""
    problems: tuple[str, ...]
    """What is wrong with the others, a sentence each."""


def sorted_out(names: Iterable[str]) -> SortedOut:
    """Find columns by any of their names."""
    keys: dict[str, None] = {}
    problems = []
    for name in names:
        wanted = name.strip().lower()
        key = wanted if wanted in DRAWN else _KEY_OF.get(wanted)
        if key is None:
            near = get_close_matches(wanted, (*DRAWN, *_KEY_OF), n=1, cutoff=0.5)
            meant = f"; did you mean {near[0]}?" if near else f"; there are {_THERE_ARE}"
            problems.append(f"Instances have no column {name!r}{meant}")
        else:
            keys[key] = None
    if keys and _SIGN not in keys:
        keys = {_SIGN: None, **keys}
    return SortedOut(keys=tuple(keys), problems=tuple(problems))


_THERE_ARE = ", ".join((*(column.key for column in INSTANCES.columns), *DRAWN))
