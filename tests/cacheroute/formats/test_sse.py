"""The scanner beside a naive reader that is given the whole stream at once."""

import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cacheroute.formats.sse import Event, SseScanner

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

LINE_END = re.compile(rb"\r\n|\n|\r")

LINES = st.one_of(
    st.sampled_from(
        [
            b"data: {\"a\":1}", b"data:x", b"data:  two blanks", b"data", b"data:", b"data: ",
            b"event: error", b"event:x", b"event", b"id: 7", b"retry: 10", b": ping", b":",
            b"", b"", b"", b"unknown: 1", b"datax: 1", b" data: x", b"data : x", b"\xc3",
            b"data: \xff", b"data: [DONE]",
        ]
    ),
    st.binary(max_size=12).map(lambda data: data.replace(b"\r", b"").replace(b"\n", b"")),
)  # fmt: skip
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
STREAMS = st.lists(st.tuples(LINES, ENDS), max_size=16).map(
    lambda rows: b"".join(line + end for line, end in rows)
)
TAILS = st.sampled_from([b"", b"d", b"data", b"data: ha", b": co", b"event: err"])


def naive(stream: bytes) -> tuple[list[Event], int, bool]:
    """Read a whole stream: its events, its comment lines, and whether it ends within an event."""
    found: list[Event] = []
    comments = 0
    name, data, begun = b"", list[bytes](), False
    *lines, rest = LINE_END.split(stream)
    for line in lines:
        if not line:
            if begun:
                found.append(Event(name, b"\n".join(data)))
            name, data, begun = b"", [], False
        elif line.startswith(b":"):
            comments += 1
        else:
            key, _, value = line.partition(b":")
            begun = True
            if key == b"data":
                data.append(value.removeprefix(b" "))
            elif key == b"event":
                name = value.removeprefix(b" ")
    return found, comments, begun or bool(rest)


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    at = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [stream[a:b] for a, b in pairwise(at)]


@patient
@given(STREAMS, TAILS, st.lists(st.integers(0, 1000), max_size=8))
@example(b"data: a\r\n\r\ndata: b\r\r", b"", [8, 9, 10])
@example(b"data: a\r\n\n", b"", [8])
def test_any_cut_of_any_stream_reads_as_the_whole(
    stream: bytes, tail: bytes, cuts: list[int]
) -> None:
    events, comments, amid = naive(stream + tail)
    scanner = SseScanner()
    found = [event for piece in pieces(stream + tail, cuts) for event in scanner.scan(piece)]
    assert found == events
    assert scanner.events == len(events)
    assert scanner.comments == comments
    assert scanner.is_amid_event == amid


@patient
@given(STREAMS)
def test_byte_by_byte_reads_as_the_whole(stream: bytes) -> None:
    scanner = SseScanner()
    found = [event for n in range(len(stream)) for event in scanner.scan(stream[n : n + 1])]
    assert found == naive(stream)[0]


PLAIN = st.lists(
    st.sampled_from([b"data: x\n\n", b"data: [DONE]\n\n", b'data: {"a":"b"}\n\n', b"data:\n\n"]),
    min_size=1,
    max_size=4,
).map(b"".join)
ODD = st.sampled_from(
    [
        b"data: a\n\n\n", b"\n\ndata: a\n\n", b"data: a\n\n\n\ndata: b\n\n", b"\n",
        b"data: a\ndata: b\n\n", b"data: a\n", b"data: a\r\n\r\n", b": c\n\n",
        b"data: a\n\n: c\n\ndata: b\n\n", b"event: x\ndata: a\n\n", b"data: a\n\nid: 1\n\n",
        b"data: a\n\nevent: x\ndata: b\n\n", b"data: a\n\n\ndata: b\n\n",
    ]
)  # fmt: skip


@patient
@given(st.lists(PLAIN | ODD | STREAMS, max_size=6))
def test_counting_and_scanning_never_disagree(stream: list[bytes]) -> None:
    quick, slow = SseScanner(), SseScanner()
    for piece in stream:
        slow.scan(piece)
        before = quick.events
        if not quick.count(piece):
            assert quick.events == before
            quick.scan(piece)
        assert quick.events == slow.events
        assert quick.is_amid_event == slow.is_amid_event


@patient
@given(PLAIN)
def test_the_common_stream_is_only_counted(stream: bytes) -> None:
    scanner = SseScanner()
    assert scanner.count(stream)
    assert scanner.events == len(naive(stream)[0])


@pytest.mark.parametrize("begun", [b"data: a\n", b"dat", b"data: x\r"])
def test_what_continues_an_event_is_not_counted_but_scanned(begun: bytes) -> None:
    scanner = SseScanner()
    scanner.scan(begun)
    assert not scanner.count(b"data: b\n\n")


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        (b"", b""),
        (b"data: {\"er", b'{"er'),
        (b"data:x", b"x"),
        (b"data: a\ndata: b", b"a\nb"),
        (b"data: a\n", b"a"),
        (b"data: whole\n\n", b""),
        (b"data: whole\n\ndata: ne", b"ne"),
        (b": comment", b""),
        (b"event: x\n", b""),
        (b"data: a\r", b"a"),
    ],
)  # fmt: skip
def test_an_event_can_be_peeked_at_before_it_is_complete(stream: bytes, data: bytes) -> None:
    for size in (1, 2, 100):
        scanner = SseScanner()
        for start in range(0, len(stream), size):
            scanner.scan(stream[start : start + size])
        assert scanner.peek() == data


@patient
@given(STREAMS.filter(lambda stream: not naive(stream)[2]), st.binary(min_size=1, max_size=30))
def test_bytes_are_counted_while_an_event_is_open(stream: bytes, text: bytes) -> None:
    begun = b"data: " + text.replace(b"\r", b"").replace(b"\n", b"")
    scanner = SseScanner()
    scanner.scan(stream)
    assert scanner.event_bytes == 0
    scanner.scan(begun)
    assert scanner.event_bytes == len(begun)


def test_many_small_events_in_one_piece_leave_nothing_open() -> None:
    scanner = SseScanner()
    assert len(scanner.scan(b"event: a\ndata: x\n\n" * 1000)) == 1000
    assert scanner.event_bytes == 0
    assert not scanner.is_amid_event


def test_comments_between_events_are_no_open_event() -> None:
    scanner = SseScanner()
    scanner.scan(b": ping\n: ping\n")
    assert not scanner.is_amid_event
    assert scanner.comments == 2


def test_a_line_without_an_end_is_gathered_without_copying_it_again_and_again() -> None:
    scanner = SseScanner()
    scanner.scan(b"data: ")
    for _ in range(2000):
        scanner.scan(b"x" * 1000)
    (event,) = scanner.scan(b"\n\n")
    assert len(event.data) == 2_000_000


def test_a_byte_order_mark_before_the_stream_is_no_part_of_its_first_line() -> None:
    for size in (1, 2, 100):
        scanner = SseScanner()
        stream = b"\xef\xbb\xbfdata: x\n\n"
        cut = [stream[n : n + size] for n in range(0, len(stream), size)]
        assert [event for piece in cut for event in scanner.scan(piece)] == [Event(b"", b"x")]


def test_an_event_begins_to_count_where_it_begins() -> None:
    """However long the stream is whose pieces end within an event, none of them is large."""
    scanner = SseScanner()
    scanner.scan(b"data: one\n")
    for _ in range(1000):
        assert len(scanner.scan(b"\ndata: one\n")) == 1
        assert scanner.event_bytes == len(b"data: one\n")


@patient
@given(STREAMS, TAILS, st.lists(st.integers(0, 1000), max_size=8), st.integers(0, 40))
def test_what_is_not_kept_is_still_counted(
    stream: bytes, tail: bytes, cuts: list[int], kept_bytes: int
) -> None:
    events, comments, amid = naive(stream + tail)
    scanner = SseScanner(kept_bytes)
    cut = pieces(stream + tail, cuts)
    found = [event for piece in cut for event in scanner.scan(piece)]
    assert [(scanner.events, scanner.comments, scanner.is_amid_event)] == [
        (len(events), comments, amid)
    ]
    for seen, whole in zip(found, events, strict=True):
        assert whole.data.startswith(seen.data)
        if not seen.is_cut:
            assert seen == whole
        if len(whole.data) > kept_bytes:
            assert seen.is_cut
        assert len(seen.data) <= kept_bytes + max(map(len, cut)) + 1


@pytest.mark.parametrize("line", [b"data: ", b": ", b"odd: ", b"x"])
def test_of_a_line_without_an_end_no_more_is_kept_than_may_be(line: bytes) -> None:
    scanner = SseScanner(10_000)
    scanner.scan(line)
    for _ in range(100):
        scanner.scan(b"x" * 1000)
    assert sum(map(len, scanner._line)) <= 12_000
    assert scanner.event_bytes == len(line) + 100_000
    scanner.scan(b"\n\n")
    assert scanner.event_bytes == 0
    (event,) = scanner.scan(b"data: next\n\n")
    assert event == Event(b"", b"next")
