"""The end mark comes out of a stream, and nothing else does."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cacheroute.formats.sse_done import DoneFilter

EVENTS = b'data: {"a":1}\n\ndata: {"b":"data: [DONE]"}\n\n'
LOOKALIKES = b": data: [DONE]\nid: data: [DONE]\ndata: [DONE] \xc3\xa9\ndata: [DON\ndata:x\n\n"


def passed(*pieces: bytes) -> tuple[bytes, bool]:
    done = DoneFilter()
    out = b"".join(done.feed(piece) for piece in pieces) + done.close()
    return out, done.found


def cut(stream: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({min(each, len(stream)) for each in cuts})
    return [stream[a:b] for a, b in zip([0, *edges], [*edges, len(stream)], strict=True)]


@pytest.mark.parametrize(
    "mark",
    [
        b"data: [DONE]\n\n",
        b"data:[DONE]\n\n",
        b"data:  [DONE] \t\n\n",
        b"data: [DONE]\r\n\r\n",
        b"data: [DONE]\r\r",
        b"data: [DONE]\n",
        b"data: [DONE]\r",
        b"data: [DONE]",
    ],
)
def test_the_mark_goes_with_its_blank_line(mark: bytes) -> None:
    assert passed(EVENTS + mark) == (EVENTS, True)
    assert passed(EVENTS, *[bytes([each]) for each in mark]) == (EVENTS, True)


def test_a_stream_without_the_mark_goes_on_whole() -> None:
    assert passed(EVENTS, b": ping\n\n", b"data: [DON") == (
        EVENTS + b": ping\n\ndata: [DON",
        False,
    )


def test_what_follows_the_mark_goes_on() -> None:
    assert passed(b"data: [DONE]\n\n" + EVENTS) == (EVENTS, True)
    assert passed(b"data: [DONE]\n" + EVENTS) == (EVENTS, True)


def test_every_mark_goes() -> None:
    assert passed(b"data: [DONE]\n\n" * 3) == (b"", True)


def test_a_piece_of_whole_events_is_passed_on_as_it_is() -> None:
    piece = b'data: {"a":1}\n\n' * 3
    assert DoneFilter().feed(piece) is piece


def test_only_a_line_that_could_become_the_mark_is_held_back() -> None:
    done = DoneFilter()
    assert [done.feed(b'data: {"a'), done.feed(b'":1}\n\nda'), done.feed(b"ta: {")] == [
        b'data: {"a',
        b'":1}\n\n',
        b"data: {",
    ]


def test_a_line_that_was_cut_before_what_looks_like_the_mark_is_none() -> None:
    assert passed(b": ", b"data: [DONE]\n\n") == (b": data: [DONE]\n\n", False)


def test_nothing_said_changes_nothing() -> None:
    assert passed(b"data: [DO", b"", b"NE]\r", b"", b"\n", b"", b"\n") == (b"", True)


@given(st.lists(st.integers(0, 250), max_size=12), st.sampled_from([b"\n", b"\r\n", b"\r"]))
@example(list(range(250)), b"\r\n")
def test_it_does_not_matter_where_the_network_cuts(cuts: list[int], line_end: bytes) -> None:
    before, after = (
        each.replace(b"\n", line_end) for each in (EVENTS + LOOKALIKES, b": bye\n\ndata: x\n\n")
    )
    stream = before + b"data: [DONE]\n\n".replace(b"\n", line_end) + after
    assert passed(*cut(stream, cuts)) == (before + after, True)


@given(st.lists(st.sampled_from([b"data: ", b"[DONE]", b"\r", b"\n", b":", b"[", b"x"])))
def test_a_stream_of_anything_passes_the_same_in_one_piece_and_in_many(parts: list[bytes]) -> None:
    stream = b"".join(parts)
    assert passed(*parts) == passed(*[bytes([each]) for each in stream])
