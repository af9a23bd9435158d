"""What is told of requests is what is read of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.routing.decision import Decision
from cacheroute.planes.traces import ROOMS, Traced, trace_page, traced_row, traces_page
from cacheroute.runtime.request_log import KnowledgeRecord, RequestRecord
from cacheroute.wire import strict_json
from cacheroute.wire.traces import RequestRow, TracesReply

AMOUNTS = st.floats(0, 1e6) | st.integers(0, 10**6)
COUNTS = st.integers(0, 10**9)
NAMES = st.text(max_size=20)
MAYBE_MS = st.none() | AMOUNTS
KNOWLEDGE = st.builds(
    KnowledgeRecord,
    path=st.none() | NAMES, predicted_ttft_ms=MAYBE_MS, ttft_ms=MAYBE_MS, service_ms=MAYBE_MS,
    predicted_service_ms=MAYBE_MS, residual_tokens=st.none(), reused_tokens=st.none(),
    alone=st.booleans(),
)  # fmt: skip
RECORDS = st.builds(
    RequestRecord,
    at=AMOUNTS, request_id=NAMES, endpoint=NAMES, model=st.none() | NAMES, stream=st.booleans(),
    caller=NAMES, instance=st.none() | NAMES, attempts=COUNTS, status=st.none() | COUNTS,
    outcome=NAMES, ttft_ms=MAYBE_MS, e2e_ms=AMOUNTS, prompt_tokens=st.none() | COUNTS,
    completion_tokens=st.none() | COUNTS, cached_tokens=st.none() | COUNTS, bytes_in=COUNTS,
    bytes_out=COUNTS, error=st.none() | NAMES, knowledge=st.none() | KNOWLEDGE,
)  # fmt: skip
MARKS = st.none() | st.dictionaries(
    st.sampled_from([mark for room in ROOMS for mark in (room.begin, room.end)]),
    st.integers(0, 10**6) | st.text(max_size=3),
)
DECISION = Decision(
    1, 0.0, "r", 1, "least_load", None, "e", "i-1", 1.5, None, None, 1, None, None
).as_wire()


class One:
    """A Proxy's memory of one request."""

    total = 1

    def __init__(self, traced: Traced) -> None:
        self._traced = traced

    def last(self, count: int) -> Sequence[Traced]:
        """Return it."""
        return [self._traced][:count]

    def find(self, request_id: str) -> Traced | None:
        """Return it by its name."""
        return self._traced if self._traced.record.request_id == request_id else None


@given(RECORDS, st.none() | st.floats(0, 10), MARKS)
def test_what_a_proxy_writes_is_read_to_the_letter(
    record: RequestRecord, sent_s: float | None, marks: Mapping[str, int | str] | None
) -> None:
    traces = One(Traced(1, record, sent_s, marks))
    listed, alone = traces_page(traces, last=1), trace_page(traces, record.request_id, [DECISION])

    for page in (listed, alone):
        written = strict_json.encode(page)
        told: dict[str, Any] = msgspec.json.decode(written)
        read: dict[str, Any] = msgspec.to_builtins(msgspec.json.decode(written, type=TracesReply))
        [was], [row] = told["traces"], read["traces"]
        # A list leaves out what only one request is asked for.
        assert {**row, **was} == row
        assert {key: value for key, value in read.items() if key != "traces"} == {
            key: value for key, value in told.items() if key != "traces"
        }


def test_a_row_has_a_place_for_all_that_is_told() -> None:
    record = RequestRecord(
        at=1.0, request_id="r", endpoint="e", model=None, stream=False, caller="native",
        instance=None, attempts=0, status=None, outcome="ok", ttft_ms=None, e2e_ms=2.0,
        prompt_tokens=None, completion_tokens=None, cached_tokens=None, bytes_in=0, bytes_out=0,
        error=None,
    )  # fmt: skip

    told = {*traced_row(Traced(1, record, None, None)), "marks", "decisions"}

    assert told == set(RequestRow.__struct_fields__)


def test_a_page_of_a_later_version_can_be_read() -> None:
    room = {"room": "place", "start_ms": 0, "end_ms": 1, "x": 1}
    row = {"seq": 1, "at": 2.0, "request_id": "r", "endpoint": "e", "outcome": "ok", "e2e_ms": 3,
           "mood": "good", "rooms": [room]}  # fmt: skip
    reply = msgspec.convert({"ok": True, "traces": [row], "more": 1}, TracesReply)

    assert reply.traces[0].rooms[0].predicted_ms is None
    assert (reply.traces[0].marks, reply.traces[0].ttft_ms) == (None, None)
