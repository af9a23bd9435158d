"""What a word on the console means: every column of every list, every alert, and a glossary."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from cacheroute.console import cast
from cacheroute.console.alert_meanings import MEANINGS, where_set
from cacheroute.console.alerts import AlertKind
from cacheroute.console.columns import NOBODY_KNOWS, Column, Kind
from cacheroute.console.glossary import GLOSSARY
from cacheroute.console.kinds import KINDS
from cacheroute.console.rows.instances import INSTANCES
from cacheroute.console.rows.screen_columns import DRAWN
from cacheroute.console.rules import RULES, Rules


class UnknownTerm(ValueError):
    """A word that nothing here is called."""

    def __init__(self, term: str, nearest: Sequence[str]) -> None:
        meant = f"; did you mean {' or '.join(map(repr, nearest))}?" if nearest else ""
        super().__init__(f"nothing is called {term!r}{meant}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One word in one sense."""

    term: str
    of: str
    """The list it is a column of, `alerts`, or `glossary`."""
    meaning: str
    unit: str | None
    source: str | None
    """Who measures or counts it."""
    unknown: str | None
    """What it means when there is no value."""
    names: tuple[str, ...]
    """What it may be called in filters and orders."""


def explanations() -> list[Explanation]:
    """Return everything there is to explain: the glossary, then list by list."""
    words = [_word(term, "glossary", meaning) for term, meaning in GLOSSARY.items()]
    words += [of_alert(kind) for kind in MEANINGS]
    words += [_word(term, INSTANCES.name, meaning) for term, meaning in DRAWN.items()]
    return words + [one for kind in KINDS.values() for one in of_kind(kind)]


def explain(term: str) -> list[Explanation]:
    """Return all senses of a word; raises UnknownTerm with what may have been meant."""
    wanted = term.strip().lower()
    every = explanations()
    found = [one for one in every if wanted in (one.term, *one.names)]
    if not found:
        names = dict.fromkeys(name for one in every for name in (one.term, *one.names))
        raise UnknownTerm(term, get_close_matches(wanted, names, n=2, cutoff=0.7))
    return found


def of_kind(kind: Kind[Any]) -> list[Explanation]:
    """Return what the columns of one kind mean."""
    return [_of_column(kind.name, column) for column in kind.columns]


def of_alert(kind: AlertKind, rules: Rules | None = None) -> Explanation:
    """Return what a kind of alert means, with its threshold and where that is set.

    `rules` are those in force, where the reader knows them.
    """
    found = MEANINGS[kind]
    settings = ", ".join(where_set(kind, rules or RULES))
    by_default = "" if rules else ", by default"
    configured = f" Configured as {settings}{by_default}." if settings else ""
    return Explanation(
        term=kind,
        of="alerts",
        meaning=f"{found.meaning} {found.threshold}{configured}",
        unit=found.unit,
        source=found.source,
        unknown=found.unknown,
        names=(kind,),
    )


def _word(term: str, of: str, meaning: str) -> Explanation:
    return Explanation(
        term=term, of=of, meaning=meaning, unit=None, source=None, unknown=None, names=(term,)
    )


def _of_column(kind: str, column: Column[Any]) -> Explanation:
    # A list of words needs no explanation for an unknown it never has.
    has_its_own = column.unknown != NOBODY_KNOWS
    return Explanation(
        term=column.key,
        of=kind,
        meaning=column.doc,
        unit=column.unit or None,
        source=column.source or None,
        unknown=column.unknown if has_its_own or column.unit else None,
        names=column.names,
    )


EXPLAIN: Kind[Explanation] = Kind(
    name="explain",
    noun="terms",
    columns=(
        cast.word("term", "TERM", "The word."),
        cast.word("of", "OF", "The list it is a column of, or where else it stands.", rank=1),
        cast.word("unit", "UNIT", "What its numbers are in.", unknown="It has none.", wide=True),
        cast.word("meaning", "MEANING", "What it means.", gives_way=True),
        cast.word("source", "SOURCE", "Who measures or counts it.", unknown="It says itself.",
            wide=True),
        cast.word("unknown", "UNKNOWN", "What it means when there is no value.",
            unknown="There always is one.", wide=True),
        cast.words("names", "NAMES", "What it may be called in filters and orders.", wide=True),
    ),
    name_of=lambda one: one.term,
    searched=lambda one: f"{one.term} {one.meaning}",
)  # fmt: skip
