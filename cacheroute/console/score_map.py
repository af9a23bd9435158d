"""All scores of a look in the order of the choice, each made when it is looked at.

A map shows a dozen Instances of a thousand. Order, totals and ties need a number for each of
them; only those that are seen are taken apart, which is most of the work.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import overload

from cacheroute.console.look import Look
from cacheroute.console.rows.scores import ScoreRow
from cacheroute.console.standing import why_not_chosen
from cacheroute.wire.console_columns import spread


class ScoreMap(Sequence[ScoreRow]):
    """Scores: those in the choice first, the least loaded of them on top."""

    def __init__(
        self,
        ids: Sequence[str],
        scores: Sequence[float | None],
        ranks: Sequence[int | None],
        make: Callable[[Collection[str]], Mapping[str, ScoreRow]],
    ) -> None:
        """`make` returns the rows of some ids, and may return more."""
        self.ids = ids
        self.scores = scores
        """The Proxy's totals, in the order of `ids`."""
        self.ranks = ranks
        """None is not in the choice."""
        self._make = make
        self._made: dict[str, ScoreRow] = {}

    @property
    def inside(self) -> int:
        """How many are in the choice."""
        return sum(1 for rank in self.ranks if rank is not None)

    @property
    def best(self) -> float | None:
        """The lowest total in the choice; None when nobody is in it."""
        return self.scores[0] if self.ranks and self.ranks[0] is not None else None

    def ties(self) -> Mapping[int, int]:
        """Count the Instances of each place; more than one is a tie."""
        return counted(self.ranks)

    def tied_with(self, row: ScoreRow) -> list[str]:
        """Return the others of the same place."""
        return [
            id_
            for id_, rank in zip(self.ids, self.ranks, strict=True)
            if rank is not None and rank == row.rank and id_ != row.id
        ]

    def prefetch(self, places: range) -> None:
        """Make the rows of a stretch at once."""
        wanted = {self.ids[at] for at in places} - self._made.keys()
        if wanted:
            self._made.update(self._make(wanted))

    def row_of(self, instance_id: str) -> ScoreRow:
        """Return the score of an Instance that is in the map."""
        if instance_id not in self._made:
            self._made.update(self._make({instance_id}))
        return self._made[instance_id]

    def with_first(self, row: ScoreRow) -> list[ScoreRow]:
        """Return a score and the one it is behind, which is what a difference is told from."""
        return [row] if row.behind is None else [self.row_of(row.behind), row]

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> ScoreRow: ...
    @overload
    def __getitem__(self, at: slice) -> list[ScoreRow]: ...
    def __getitem__(self, at: int | slice) -> ScoreRow | list[ScoreRow]:
        if isinstance(at, slice):
            return [self.row_of(id_) for id_ in self.ids[at]]
        return self.row_of(self.ids[at])

    def __iter__(self) -> Iterator[ScoreRow]:
        self.prefetch(range(len(self)))
        return (self.row_of(id_) for id_ in self.ids)


def counted(ranks: Sequence[int | None]) -> Mapping[int, int]:
    """Count how often each place is taken."""
    counts: dict[int, int] = {}
    for rank in ranks:
        if rank is not None:
            counts[rank] = counts.get(rank, 0) + 1
    return counts


def of_rows(rows: Sequence[ScoreRow]) -> ScoreMap:
    """Return a map of scores that are all made already, as those of a what-if are."""
    made = {row.id: row for row in rows}
    return ScoreMap(
        [row.id for row in rows],
        [row.score for row in rows],
        [row.rank for row in rows],
        lambda _: made,
    )


def of_look(look: Look, *, is_all: bool = True) -> ScoreMap:
    """Return the map of a look; without `is_all` only of those in the choice."""
    document = look.snapshot
    told = document.ids, spread(document.instances.score, len(document.ids))
    score_of: dict[str, float | None] = dict(zip(*told, strict=True))
    inside: list[tuple[float, str]] = []
    outside: list[str] = []
    for fleet in look.instances:
        score = score_of[fleet.id]
        if score is not None and why_not_chosen(fleet) is None:
            inside.append((score, fleet.id))
        else:
            outside.append(fleet.id)
    inside.sort()
    ranks: list[int | None] = []
    for place, (score, _) in enumerate(inside):
        is_tied = place > 0 and score == inside[place - 1][0]
        ranks.append(ranks[-1] if is_tied else place + 1)
    ids = [id_ for _, id_ in inside]
    rank_of = dict(zip(ids, ranks, strict=True))
    if is_all:
        outside.sort()
        ids += outside
        ranks += [None] * len(outside)
    first = inside[0][1] if inside else None

    def make(wanted: Collection[str]) -> Mapping[str, ScoreRow]:
        return {
            row.id: replace(row, rank=rank, behind=first if rank and rank > 1 else None)
            for row in look.only(*wanted).scores
            for rank in (rank_of.get(row.id),)
        }

    return ScoreMap(ids, [score_of[id_] for id_ in ids], ranks, make)
