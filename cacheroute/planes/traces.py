"""How the last requests went, as the control plane tells it: room by room, what was predicted too.

A request of a Scheduler, or one that asks for its meta, has a story and so each of its rooms;
of any other it is known when it came, was sent, had its first token and ended.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from cacheroute.core.predict.errors import error_ratio

JsonObject = dict[str, object]
Marks = Mapping[str, int | str]


class KnowledgePart(Protocol):
    """What is written down of a request with a story; see the request log."""

    @property
    def path(self) -> str | None: ...
    @property
    def predicted_ttft_ms(self) -> float | None: ...
    @property
    def ttft_ms(self) -> float | None: ...


class Record(Protocol):
    """What is written down of every request; see the request log."""

    @property
    def at(self) -> float: ...
    @property
    def request_id(self) -> str: ...
    @property
    def endpoint(self) -> str: ...
    @property
    def model(self) -> str | None: ...
    @property
    def stream(self) -> bool: ...
    @property
    def caller(self) -> str: ...
    @property
    def instance(self) -> str | None: ...
    @property
    def attempts(self) -> int: ...
    @property
    def status(self) -> int | None: ...
    @property
    def outcome(self) -> str: ...
    @property
    def ttft_ms(self) -> float | None: ...
    @property
    def e2e_ms(self) -> float: ...
    @property
    def prompt_tokens(self) -> int | None: ...
    @property
    def completion_tokens(self) -> int | None: ...
    @property
    def cached_tokens(self) -> int | None: ...
    @property
    def bytes_in(self) -> int: ...
    @property
    def bytes_out(self) -> int: ...
    @property
    def error(self) -> str | None: ...
    @property
    def knowledge(self) -> KnowledgePart | None: ...


class Traced(NamedTuple):
    """One request that has ended."""

    number: int
    """Counted from 1 since the Proxy started."""
    record: Record
    sent_s: float | None
    """From its arrival until it was sent to the Instance; None if it never was."""
    marks: Marks | None
    """Its story; None for a request without one."""


class Traces(Protocol):
    """The last requests."""

    @property
    def total(self) -> int:
        """Requests that have ended since the Proxy started."""
        ...

    def last(self, count: int) -> Iterable[Traced]:
        """Iterate over the newest, newest first."""
        ...

    def find(self, request_id: str) -> Traced | None:
        """Return the newest of a name."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A room of a story, by the marks at its doors."""

    name: str
    begin: str
    end: str
    predicted: str | None = None
    """The fact that says how long it was thought to take."""
    within: str | None = None
    """The room that it is a part of."""


ROOMS: tuple[Room, ...] = (
    Room(name="place", begin="proxy_recv_ms", end="proxy_enqueue_ms"),
    Room(name="prepare queue", begin="prepare_queue_enqueue_ms", end="prepare_dequeue_ms"),
    Room(
        name="prepare",
        begin="prepare_start_ms",
        end="ready_enqueue_ms",
        predicted="predict_know_prepare_ms",
    ),
    Room(name="lookup", begin="kdn_fetch_start_ms", end="kdn_fetch_end_ms", within="prepare"),
    Room(
        name="inject",
        begin="kv_inject_start_ms",
        end="kv_inject_end_ms",
        predicted="predict_kv_transfer_ms",
        within="prepare",
    ),
    Room(
        name="ready queue",
        begin="ready_enqueue_ms",
        end="forward_start_ms",
        predicted="predict_wait_ms",
    ),
    Room(
        name="prefill",
        begin="forward_start_ms",
        end="first_token_ms",
        predicted="predict_vllm_internal_ms",
    ),
    Room(
        name="decode",
        begin="first_token_ms",
        end="forward_end_ms",
        predicted="predict_decode_ms",
    ),
)
"""In the order in which a request passes them."""


def traces_page(traces: Traces, *, last: int, since: int | None = None) -> JsonObject:
    """Build `GET /debug/traces?last=N&since=SEQ`, newest first."""
    total = traces.total
    wanted = total - since if since is not None and since <= total else total
    told = [
        traced_row(one)
        for one in traces.last(last)
        if since is None or one.number > since or since > total
    ]
    missed = max(0, wanted - len(told)) if since is not None else 0
    return {"ok": True, "total": total, "missed": missed, "traces": told}


def trace_page(
    traces: Traces, request_id: str, decisions: Sequence[JsonObject]
) -> JsonObject | None:
    """Build `GET /debug/traces?request_id=`; None when nobody knows it, or no longer."""
    found = traces.find(request_id)
    if found is None:
        return None
    row = {**traced_row(found), "marks": found.marks, "decisions": decisions}
    return {"ok": True, "total": traces.total, "missed": 0, "traces": [row]}


def traced_row(traced: Traced) -> JsonObject:
    """Write one request."""
    record, marks, knowledge = traced.record, traced.marks, traced.record.knowledge
    predicted_ms = actual_ms = path = None
    if knowledge is not None:
        path = knowledge.path
        predicted_ms, actual_ms = knowledge.predicted_ttft_ms, knowledge.ttft_ms
    sent_ms = None if traced.sent_s is None else round(traced.sent_s * 1000, 3)
    return {
        "seq": traced.number,
        "at": record.at,
        "request_id": record.request_id,
        "endpoint": record.endpoint,
        "model": record.model,
        "stream": record.stream,
        "caller": record.caller,
        "instance_id": record.instance,
        "attempts": record.attempts,
        "status": record.status,
        "outcome": record.outcome,
        "error": record.error,
        "sent_ms": sent_ms,
        "ttft_ms": record.ttft_ms,
        "e2e_ms": record.e2e_ms,
        "prompt_tokens": record.prompt_tokens,
        "completion_tokens": record.completion_tokens,
        "cached_tokens": record.cached_tokens,
        "bytes_in": record.bytes_in,
        "bytes_out": record.bytes_out,
        "path": path,
        "predicted_ttft_ms": predicted_ms,
        "actual_ttft_ms": actual_ms,
        "predict_error_ratio": error_ratio(predicted_ms, actual_ms),
        "has_story": marks is not None,
        "rooms": (
            rooms_of_any(sent_ms, record.ttft_ms, record.e2e_ms)
            if marks is None
            else rooms_of_story(marks, record.e2e_ms)
        ),
    }


def rooms_of_any(sent_ms: float | None, ttft_ms: float | None, e2e_ms: float) -> list[JsonObject]:
    """Return the rooms of a request without a story; moments count from its arrival."""
    if sent_ms is None:
        return [_room("place", 0.0, e2e_ms)]
    place = _room("place", 0.0, sent_ms)
    if ttft_ms is None:
        return [place, _room("answer", sent_ms, e2e_ms)]
    return [place, _room("prefill", sent_ms, ttft_ms), _room("decode", ttft_ms, e2e_ms)]


def rooms_of_story(marks: Marks, e2e_ms: float) -> list[JsonObject]:
    """Return the rooms of a story; the one that it did not leave ends with the request."""
    came_ms = _moment(marks, "proxy_recv_ms")
    if came_ms is None:
        return []
    found: list[JsonObject] = []
    for room in ROOMS:
        begin_ms, left_ms = _moment(marks, room.begin), _moment(marks, room.end)
        if begin_ms is None:
            continue
        name, predicted_ms = room.name, _moment(marks, room.predicted)
        end_ms = came_ms + e2e_ms if left_ms is None else left_ms
        if left_ms is None:
            if room.within is not None or _goes_on(marks, room):
                continue
            if name == "prefill":
                name, predicted_ms = "answer", None
        found.append(
            _room(
                name,
                begin_ms - came_ms,
                max(begin_ms, end_ms) - came_ms,
                predicted_ms=predicted_ms,
                within=room.within,
            )
        )
    return found


def _goes_on(marks: Marks, room: Room) -> bool:
    later = ROOMS[ROOMS.index(room) + 1 :]
    return any(each.begin in marks for each in later if each.within is None)


def _room(
    name: str,
    start_ms: float,
    end_ms: float,
    *,
    predicted_ms: float | None = None,
    within: str | None = None,
) -> JsonObject:
    return {
        "room": name,
        "start_ms": start_ms,
        "end_ms": max(start_ms, end_ms),
        "predicted_ms": predicted_ms,
        "within": within,
    }


def _moment(marks: Marks, name: str | None) -> int | None:
    value = None if name is None else marks.get(name)
    return value if isinstance(value, int) else None
