"""How each of the last requests went: room by room, predicted beside actual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from cacheroute.console import cast
from cacheroute.console.amounts import instant_of, render_took
from cacheroute.console.columns import NAME_FLOOR, Column, Kind, Tone
from cacheroute.console.rows.decisions import DecisionRow, decision_row

if TYPE_CHECKING:
    from cacheroute.wire.traces import RequestRow, TracesReply

_ABSENT = "It is not known of this request."
_NO_STORY = "Only requests of a Scheduler, and those that ask for their meta, are predicted."


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One room of a request, on a clock that starts with its arrival."""

    room: str
    """`place`, `prepare queue`, `prepare`, `ready queue`, `prefill`, `decode` or `answer`; within
    `prepare`, `lookup` and `inject`."""
    start_ms: float
    end_ms: float
    predicted_ms: float | None
    """How long it was thought to take; None without a prediction."""
    within: str | None = None
    """The room that it is a part of."""

    @property
    def took_ms(self) -> float:
        """How long it took."""
        return self.end_ms - self.start_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRow:
    """One request; times are milliseconds, None is not known."""

    seq: int
    at: datetime | None
    """Its arrival, by the Proxy's clock."""
    request_id: str
    endpoint: str
    model: str | None
    stream: bool
    caller: str
    """`native` or `scheduler`."""
    instance_id: str | None
    """Who answered, or failed last."""
    attempts: int
    status: int | None
    outcome: str
    """`ok`, or the cause of its failure."""
    error: str | None
    sent_ms: float | None
    """From its arrival until it was sent to the Instance."""
    ttft_ms: float | None
    """From its arrival to the first token."""
    e2e_ms: float
    """From its arrival to the end of the answer."""
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    path: str | None
    """How its knowledge went."""
    predicted_ttft_ms: float | None
    """From the choice of the Instance to the first token."""
    actual_ttft_ms: float | None
    """The same as it was."""
    predict_error_ratio: float | None
    """|predicted - actual| / actual."""
    spans: tuple[Span, ...]
    """Its rooms in order; a request without a story has those that are known of any."""
    marks: Mapping[str, int | str]
    """Moments, in milliseconds since the epoch, and facts of its story, by their published names;
    empty for one without, and in a list."""
    has_story: bool
    """Whether each of its rooms is known."""
    decisions: tuple[DecisionRow, ...]
    """Its selections, newest first; empty in a list."""


def trace_rows(reply: TracesReply) -> list[TraceRow]:
    """Return a row for each request, as the Proxy orders them: newest first."""
    return list(map(_row, reply.traces))


def _row(it: RequestRow) -> TraceRow:
    return TraceRow(
        seq=it.seq,
        at=instant_of(it.at),
        request_id=it.request_id,
        endpoint=it.endpoint,
        model=it.model,
        stream=it.stream,
        caller=it.caller,
        instance_id=it.instance_id,
        attempts=it.attempts,
        status=it.status,
        outcome=it.outcome,
        error=it.error,
        sent_ms=it.sent_ms,
        ttft_ms=it.ttft_ms,
        e2e_ms=it.e2e_ms,
        prompt_tokens=it.prompt_tokens,
        completion_tokens=it.completion_tokens,
        cached_tokens=it.cached_tokens,
        path=it.path,
        predicted_ttft_ms=it.predicted_ttft_ms,
        actual_ttft_ms=it.actual_ttft_ms,
        predict_error_ratio=it.predict_error_ratio,
        spans=tuple(
            Span(
                room=room.room,
                start_ms=room.start_ms,
                end_ms=room.end_ms,
                predicted_ms=room.predicted_ms,
                within=room.within,
            )
            for room in it.rooms
        ),
        marks=it.marks or {},
        has_story=it.has_story,
        decisions=tuple(map(decision_row, it.decisions)),
    )


def _outcome_tone(row: TraceRow) -> Tone:
    if row.outcome == "ok":
        return "plain"
    return "warn" if row.outcome == "client_gone" else "bad"


COLUMNS: tuple[Column[TraceRow], ...] = (
    cast.count("seq", "SEQ", "Number of the request since the Proxy started.", wide=True),
    cast.clock("at", "AT", "Its arrival; on a terminal by the local clock.",
        source="the Proxy's clock"),
    cast.word("request_id", "REQUEST", "Name of the request.", aliases=("req",), gives_way=True,
        floor=NAME_FLOOR),
    cast.word("instance_id", "INSTANCE", "Who answered, or failed last.",
        unknown="It reached none.", lacks=True, aliases=("id",), gives_way=True, floor=NAME_FLOOR),
    cast.word("outcome", "OUTCOME", "ok, or the cause of its failure.", tone=_outcome_tone),
    cast.latency("ttft_ms", "TTFT", "From its arrival to the first token.",
        unknown="It is no stream, or it had no token.", lacks=True, aliases=("ttft",)),
    cast.latency("predicted_ttft_ms", "PREDICTED", "From the choice of the Instance to the first "
        "token, as predicted then.", source="predicted by the Proxy", unknown=_NO_STORY, lacks=True,
        aliases=("predicted",), rank=2, spare=True),
    cast.ratio("predict_error_ratio", "OFF BY",
        "How wrong that was: |predicted - actual| / actual.", unknown=_NO_STORY, lacks=True,
        aliases=("error_ratio",), rank=2, spare=True),
    cast.wait("e2e_ms", "TOOK", "From its arrival to the end of the answer.",
        text=lambda row: render_took(row.e2e_ms), aliases=("took", "slow")),
    cast.latency("sent_ms", "WAITED", "From its arrival until it was sent to the Instance.",
        unknown="It was not sent.", lacks=True, aliases=("wait",), rank=3),
    cast.word("path", "KNOWLEDGE", "How its knowledge went.", unknown="It names no knowledge.",
        lacks=True,
        spare=True, rank=3),
    cast.count("completion_tokens", "TOKENS", "Tokens of the answer.", unknown=_ABSENT, rank=1),
    cast.count("prompt_tokens", "PROMPT", "Tokens of the prompt.", unknown=_ABSENT, wide=True),
    cast.count("cached_tokens", "CACHED", "Prompt tokens the Instance had in its cache.",
        unknown=_ABSENT, wide=True),
    cast.count("attempts", "TRIES", "Instances that it was sent to.", wide=True),
    cast.count("status", "STATUS", "What the client was sent.",
        unknown="It left before anything was.", lacks=True, wide=True),
    cast.word("caller", "CALLER", "native or scheduler.", wide=True),
    cast.word("model", "MODEL", "The model that was asked for.", unknown="None was named.",
        lacks=True,
        gives_way=True, wide=True),
    cast.word("endpoint", "ENDPOINT", "What was asked of it.", wide=True),
    cast.yes("stream", "STREAM", "Whether its answer came piece by piece.", wide=True),
    cast.word("error", "ERROR", "What went wrong, in words.", unknown="Nothing did.",
        lacks=True, wide=True,
        gives_way=True),
)  # fmt: skip

TRACES: Kind[TraceRow] = Kind(
    name="traces",
    noun="requests",
    columns=COLUMNS,
    name_of=lambda row: row.request_id,
    searched=lambda row: f"{row.request_id} {row.instance_id or ''} {row.model or ''}",
)


def slower_than(rows: Sequence[TraceRow], slow_s: float) -> list[TraceRow]:
    """Keep those that took longer than so many seconds."""
    return [row for row in rows if row.e2e_ms > slow_s * 1000]
