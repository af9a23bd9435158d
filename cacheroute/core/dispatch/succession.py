"""Work that is done one piece after another, and when each piece is predicted to be done.

The prefills of an Instance and the transfers of a link are such work. A prediction is
corrected by what happens, in both directions. While the first piece is late, nobody knows
for how long: it is expected to need as long again as it is late, so that one that never
ends shows as a backlog that grows and never as an idle Instance.

Work may be shared: an engine fills the step that a prompt ends in with the prompts behind it,
and the first is late by what was done of them. Up to one step, lateness is taken for that: all
of it together ends when it was going to, whoever of them is done first.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Generic, TypeVar


class Span:
    """One piece of work; a later prediction replaces an earlier one."""

    __slots__ = ("duration_s", "end_s", "generation", "start_s")

    def __init__(self, duration_s: float) -> None:
        self.duration_s = duration_s
        """How long it is predicted to take once it begins."""
        self.start_s = 0.0
        """When it is predicted to begin, on the monotonic clock."""
        self.end_s = 0.0
        """When it is predicted to be done, on the monotonic clock."""
        self.generation = 0
        """How often its prediction has moved."""


SpanT = TypeVar("SpanT", bound=Span)


class Succession(Generic[SpanT]):
    """Pieces of work in the order in which they will be done."""

    __slots__ = ("_behind_s", "_shareable_s", "_spans", "step_s")

    def __init__(self) -> None:
        self.step_s = 0.0
        """How much of what is behind may be done together with the first; 0 where one piece is
        done after another."""
        # Ordered by insertion, and unlike a plain dict quick to take the first from.
        self._spans: OrderedDict[SpanT, None] = OrderedDict()
        self._behind_s = 0.0
        self._shareable_s = 0.0
        """How much of that was there before the first was later than sharing explains."""

    def __len__(self) -> int:
        return len(self._spans)

    def __contains__(self, span: SpanT) -> bool:
        return span in self._spans

    def __iter__(self) -> Iterator[SpanT]:
        return iter(self._spans)

    @property
    def head(self) -> SpanT | None:
        """The piece that is being worked on."""
        return next(iter(self._spans), None)

    def add(self, span: SpanT, now_s: float) -> None:
        """Put a piece behind all others."""
        spans = self._spans
        if spans:
            start_s = next(reversed(spans)).end_s
            if next(iter(spans)).end_s < now_s:
                start_s = max(start_s, now_s + self.busy_for_s(now_s))
            if not self.is_growing(now_s):
                self._shareable_s += span.duration_s
            self._behind_s += span.duration_s
        else:
            start_s = now_s
        span.start_s = start_s
        span.end_s = start_s + span.duration_s
        spans[span] = None

    def remove(self, span: SpanT, now_s: float, *, is_done: bool = True) -> bool:
        """Take a piece out, done or not, and predict the others anew; False if it is not here.

        Behind the first piece the next one begins now, or has begun as long ago as the first
        was late, if that was its work. Behind another one the rest moves up; but where work is
        shared, one that is done out of turn took its time from those before it.
        """
        spans = self._spans
        if span not in spans:
            return False
        begins_s = None
        if next(iter(spans)) is span:
            begins_s = now_s
            if is_done:
                begins_s -= self._shared_s(now_s - span.end_s)
        elif is_done and self.step_s > 0:
            self._push_back(span)
        del spans[span]
        if spans:
            self._predict_anew(now_s, begins_s)
        else:
            self._behind_s = self._shareable_s = 0.0
        return True

    def pass_head(self) -> SpanT:
        """Take the first piece out as if it had been done just when it was predicted to be."""
        span, _ = self._spans.popitem(last=False)
        head = self.head
        # Exact when one is left, so that a sum of many roundings never survives a quiet moment.
        self._behind_s = (
            self._behind_s - head.duration_s if head is not None and len(self._spans) > 1 else 0.0
        )
        self._shareable_s = self._behind_s
        return span

    def head_left_s(self, now_s: float) -> float:
        """Return what the first piece is expected to need still; 0 when there is none."""
        return abs(next(iter(self._spans)).end_s - now_s) if self._spans else 0.0

    def busy_for_s(self, now_s: float) -> float:
        """Return for how long there is work: what the first needs still, and all behind it."""
        spans = self._spans
        if not spans:
            return 0.0
        late_s = now_s - next(iter(spans)).end_s
        if late_s <= 0.0:
            return next(reversed(spans)).end_s - now_s
        # Twice: what was shared is done of the work behind, and explains that much lateness.
        return max(0.0, self._behind_s) + late_s - 2 * self._shared_s(late_s)

    def ends_in_s(self, span: SpanT, now_s: float) -> float:
        """Return when a piece is expected to be done; 0 when it is not here."""
        spans = self._spans
        if span not in spans:
            return 0.0
        head = next(iter(spans))
        late_s = now_s - head.end_s
        if late_s <= 0.0:
            return span.end_s - now_s
        # One that came while the first was late has counted that already.
        return min(self.busy_for_s(now_s), late_s + span.end_s - head.end_s)

    def is_growing(self, now_s: float) -> bool:
        """Whether there is more to do with every second: the first is later than sharing explains.

        So it stays until a piece is added or taken out.
        """
        head = self.head
        return head is not None and self._shared_s(now_s - head.end_s) < now_s - head.end_s

    def _shared_s(self, late_s: float) -> float:
        """Return how much was done of what is behind while the first was so late."""
        return max(0.0, min(late_s, self.step_s, self._shareable_s))

    def _push_back(self, span: SpanT) -> None:
        """Move those before a piece as far back as if it had been first."""
        for one in self._spans:
            if one is span:
                return
            one.start_s += span.duration_s
            one.end_s += span.duration_s
            one.generation += 1

    def _predict_anew(self, now_s: float, begins_s: float | None) -> None:
        spans = self._spans
        line = iter(spans)
        head = next(line)
        if begins_s is not None and head.start_s != begins_s:
            head.start_s = begins_s
            head.end_s = begins_s + head.duration_s
            head.generation += 1
        cursor_s = head.end_s
        if cursor_s < now_s:
            late_s = now_s - cursor_s
            self._shareable_s = sum(span.duration_s for span in spans if span is not head)
            cursor_s = now_s + late_s - 2 * self._shared_s(late_s)
        behind_s = 0.0
        for span in line:
            duration_s = span.duration_s
            behind_s += duration_s
            if span.start_s != cursor_s:
                span.start_s = cursor_s
                span.end_s = cursor_s + duration_s
                span.generation += 1
            cursor_s = span.end_s
        self._behind_s = self._shareable_s = behind_s
