"""What is told of a decision is what is read of it."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.routing.decision import Decision, Decisions
from cacheroute.planes import debug
from cacheroute.wire import strict_json
from cacheroute.wire.decisions import DecisionRow, DecisionsReply

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.text(max_size=20)
DECISIONS = st.builds(
    Decision,
    st.integers(1, 2**53),
    NUMBERS,
    NAMES,
    st.integers(1, 9),
    NAMES,
    st.none() | NAMES,
    NAMES,
    st.none() | NAMES,
    st.none() | NUMBERS,
    st.none() | NAMES,
    st.none() | NUMBERS,
    st.integers(0, 1_000),
    st.none() | st.dictionaries(NAMES, st.lists(NAMES, max_size=3), max_size=3),
    st.none() | NAMES,
    st.none() | st.dictionaries(NAMES, st.none() | NUMBERS | NAMES | st.lists(NAMES), max_size=3),
)


def test_a_row_has_what_a_decision_tells() -> None:
    decision = Decision(
        1, 0.0, "req-1", 1, "round_robin", None, "chat/completions", "i-1",
        None, None, None, 1, None, None,
    )  # fmt: skip

    assert tuple(decision.as_wire()) == DecisionRow.__struct_fields__


@given(DECISIONS)
def test_what_a_proxy_writes_is_read_to_the_letter(decision: Decision) -> None:
    written = decision.as_wire()
    page = strict_json.encode({"ok": True, "total": 1, "missed": 0, "decisions": [written]})

    [read] = msgspec.json.decode(page, type=DecisionsReply).decisions

    assert msgspec.to_builtins(read) == msgspec.json.decode(strict_json.encode(written))


def test_the_page_of_a_proxy_that_has_decided_nothing_is_read() -> None:
    page = strict_json.encode(debug.decisions(Decisions(), last=None, since=None))

    assert msgspec.json.decode(page, type=DecisionsReply) == DecisionsReply(
        ok=True, total=0, decisions=[]
    )


def test_a_page_of_a_later_version_is_read_and_what_is_no_decision_is_not() -> None:
    row = {"seq": 1, "at": 2, "request_id": "r", "strategy": "s", "endpoint": "e", "mood": "good"}

    read = msgspec.convert({"ok": True, "decisions": [row], "more": 1}, DecisionsReply)

    assert (read.decisions[0].instance_id, read.decisions[0].attempt) == (None, 1)
    with pytest.raises(msgspec.ValidationError, match="seq"):
        msgspec.convert({"ok": True, "decisions": [{**row, "seq": "x"}]}, DecisionsReply)
