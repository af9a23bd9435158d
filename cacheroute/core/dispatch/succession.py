"""Work that is done one piece after another, and when each piece is predicted to be done.

The prefills of an Instance and the transfers of a link are such work. A prediction is
corrected by what happens, in both directions. While the first piece is late, nobody knows
for how long: it is expected to need as long again as it is late, so that one that never
ends shows as a backlog that grows and never as an idle Instance.
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

    __slots__ = ("_behind_s", "_spans")

    def __init__(self) -> None:
        # Ordered by insertion, and unlike a plain dict quick to take the first from.
        self._spans: OrderedDict[SpanT, None] = OrderedDict()
        self._behind_s = 0.0

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
            self._behind_s += span.duration_s
        else:
            start_s = now_s
        span.start_s = start_s
        span.end_s = start_s + span.duration_s
        spans[span] = None

    def remove(self, span: SpanT, now_s: float) -> bool:
        """Take a piece out, done or not, and predict the others anew; False if it is not here.

        Behind the first piece the next one begins now; behind another one the rest moves up.
        """
        spans = self._spans
        if span not in spans:
            return False
        is_head = next(iter(spans)) is span
        del spans[span]
        if spans:
            self._predict_anew(now_s, begins_now=is_head)
        else:
            self._behind_s = 0.0
        return True

    def pass_head(self) -> SpanT:
        """Take the first piece out as if it had been done just when it was predicted to be."""
        span, _ = self._spans.popitem(last=False)
        head = self.head
        # Exact when one is left, so that a sum of many roundings never survives a quiet moment.
        self._behind_s = (
            self._behind_s - head.duration_s if head is not None and len(self._spans) > 1 else 0.0
        )
        return span

    def head_left_s(self, now_s: float) -> float:
        """Return what the first piece is expected to need still; 0 when there is none."""
        return abs(next(iter(self._spans)).end_s - now_s) if self._spans else 0.0

    def busy_for_s(self, now_s: float) -> float:
        """Return for how long there is work: what the first needs still, and all behind it."""
        spans = self._spans
        if not spans:
            return 0.0
        left_s = next(iter(spans)).end_s - now_s
        if left_s >= 0.0:
            return next(reversed(spans)).end_s - now_s
        return max(0.0, self._behind_s) - left_s

    def _predict_anew(self, now_s: float, *, begins_now: bool) -> None:
        spans = iter(self._spans)
        head = next(spans)
        if begins_now and head.start_s != now_s:
            head.start_s = now_s
            head.end_s = now_s + head.duration_s
            head.generation += 1
        cursor_s = head.end_s
        if cursor_s < now_s:
            cursor_s = now_s + (now_s - cursor_s)
        behind_s = 0.0
        for span in spans:
            duration_s = span.duration_s
            behind_s += duration_s
            if span.start_s != cursor_s:
                span.start_s = cursor_s
                span.end_s = cursor_s + duration_s
                span.generation += 1
            cursor_s = span.end_s
        self._behind_s = behind_s
