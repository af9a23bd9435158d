"""What is told of requests, read with tolerance."""

from cacheroute.wire.traces import TracesReply


def test_a_page_of_a_later_version_can_be_read() -> None:
    room = {"room": "place", "start_ms": 0, "end_ms": 1, "x": 1}
    row = {"seq": 1, "at": 2.0, "request_id": "r", "endpoint": "e", "outcome": "ok", "e2e_ms": 3,
           "mood": "good", "rooms": [room]}  # fmt: skip
    reply = TracesReply.model_validate({"ok": True, "traces": [row], "more": 1})

    assert reply.traces[0].rooms[0].predicted_ms is None
    assert (reply.traces[0].marks, reply.traces[0].ttft_ms) == (None, None)
