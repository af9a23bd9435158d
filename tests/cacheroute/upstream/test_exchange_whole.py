"""An answer that is held open, so that something can be said at its end."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cacheroute.core.errors import UpstreamClosed
from cacheroute.core.limits import Limits
from cacheroute.upstream import exchange as module
from tests.cacheroute.upstream.relaying import WORDS, relaying
from tests.support.client import Answer, connected, fetch
from tests.support.openai_shapes import DONE, token, tokens
from tests.support.script import (
    END,
    Close,
    Freeze,
    Gate,
    Reset,
    Script,
    Write,
    answer,
    chunk,
    head,
    json_answer,
    stream,
    stream_head,
)
from tests.support.waiting import eventually

SAID = b"".join(tokens(3)) + b": ping\n\n"


async def asked(port: int, method: str = "POST") -> Answer:
    return await fetch(port, method, "/v1/x", body=b"{}" if method == "POST" else None)


async def streamed(*pieces: bytes) -> bytes:
    async with relaying(stream(*pieces), keeps_whole=True) as relay:
        got = await asked(relay.port)
        assert (got.status, got.framing, got.whole) == (200, "chunked", True)
        return got.body


# Streams


async def test_the_last_words_stand_right_before_the_end_mark() -> None:
    assert await streamed(SAID, DONE) == SAID + WORDS + DONE
    assert await streamed(SAID + DONE) == SAID + WORDS + DONE
    assert await streamed(DONE) == WORDS + DONE


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(1, 400), max_size=8), st.sampled_from([b"\n", b"\r\n"]))
async def test_it_does_not_matter_where_the_instance_cuts(cuts: list[int], end: bytes) -> None:
    said = SAID.replace(b"\n", end)
    whole = said + DONE.replace(b"\n", end)
    edges = sorted({min(cut, len(whole)) for cut in cuts})
    pieces = [whole[a:b] for a, b in zip([0, *edges], [*edges, len(whole)], strict=True)]
    assert await streamed(*filter(None, pieces)) == said + WORDS + DONE


async def test_a_stream_without_an_end_mark_gets_none() -> None:
    assert await streamed(SAID) == SAID + WORDS
    assert await streamed() == WORDS


@pytest.mark.parametrize("rest", [b'data: {"a":1}', b'data: {"a":1}\n', b"data: [DON", b": pin"])
async def test_what_stops_midway_is_ended_first(rest: bytes) -> None:
    assert await streamed(SAID, rest) == SAID + rest + b"\n\n" + WORDS


async def test_what_comes_behind_the_end_mark_comes_before_it() -> None:
    assert await streamed(SAID, DONE, b": bye\n\n") == SAID + b": bye\n\n" + WORDS + DONE


async def test_an_end_mark_without_its_blank_line_is_one() -> None:
    got = await streamed(SAID, b"data: [DONE]")
    assert got == SAID + b"\n\n" + WORDS + DONE


async def test_a_stream_may_end_by_closing() -> None:
    script = (Write(head(200, [("Content-Type", "text/event-stream")]) + SAID + DONE), Close())
    async with relaying(script, keeps_whole=True) as relay:
        assert (await asked(relay.port)).body == SAID + WORDS + DONE


async def test_a_stream_that_dies_behind_its_end_mark_is_whole() -> None:
    script = (stream_head(), chunk(SAID), chunk(DONE), Reset())
    async with relaying(script, keeps_whole=True) as relay, connected(relay.port) as client:
        client.ask("POST", "/v1/x", body=b"{}")
        assert (await client.over()).body == SAID + WORDS + DONE


@pytest.mark.parametrize(
    ("script", "passed"),
    [
        ((stream_head(), chunk(SAID), Reset()), SAID),
        ((stream_head(), chunk(SAID + b"dat"), Reset()), SAID + b"dat\n\n"),
        ((stream_head(), chunk(SAID), chunk(b'data: {"a'), Reset()), SAID + b'data: {"a\n\n'),
        (
            (
                Write(head(200, [("Content-Type", "text/event-stream")]) + SAID + b"data: {"),
                Close(),
            ),
            SAID + b"data: {\n\n",
        ),
    ],
    ids=["between events", "in what is held back", "in an event", "by closing"],
)
async def test_what_was_held_back_of_a_broken_stream_is_let_through(
    script: Script, passed: bytes
) -> None:
    async with relaying(script, keeps_whole=True) as relay:
        got = await asked(relay.port)
        assert got.cut
        assert got.body == passed
        assert isinstance(relay.failures[0], UpstreamClosed)


@pytest.mark.parametrize("status", [201, 400, 500])
async def test_only_the_stream_of_a_200_is_held_open(status: int) -> None:
    async with relaying(answer(SAID + DONE, status, "text/event-stream"), keeps_whole=True) as r:
        assert (await asked(r.port)).body == SAID + DONE
        assert not r.exchanges[0].is_held_open


async def test_a_stream_of_coded_bytes_is_not_touched() -> None:
    reply = stream(SAID, DONE, headers=[("Content-Encoding", "gzip")])
    async with relaying(reply, keeps_whole=True) as relay:
        assert (await asked(relay.port)).body == SAID + DONE


async def test_a_piece_still_goes_on_before_the_next_one_is_written() -> None:
    gate = Gate()
    script = (stream_head(), chunk(token("a")), gate, chunk(DONE), END)
    async with relaying(script, keeps_whole=True) as relay, connected(relay.port) as client:
        client.ask("POST", "/v1/x", body=b"{}")
        assert await client.body_of(len(token("a"))) == token("a")
        gate.open()
        assert (await client.over()).body == token("a") + WORDS + DONE


async def test_a_client_that_reads_nothing_still_holds_the_instance_back() -> None:
    piece = b"data: " + b"x" * 65_000 + b"\n\n"
    script = (stream_head(), *[chunk(piece)] * 400, chunk(DONE), END)
    async with relaying(script, keeps_whole=True) as relay, connected(relay.port) as client:
        client.stop_reading()
        client.ask("POST", "/v1/x", body=b"{}")
        await eventually(lambda: relay.exchanges and relay.exchanges[0]._outbound.is_paused)
        client.read_on()
        assert (await client.over()).body == 400 * piece + WORDS + DONE


async def test_an_event_beyond_the_limit_still_ends_the_stream() -> None:
    script = (stream_head(), chunk(SAID), chunk(b"data: " + b"x" * 2000), Freeze())
    async with relaying(script, Limits(event_bytes=1000), keeps_whole=True) as relay:
        got = await asked(relay.port)
        assert got.cut
        await relay.backend.closed_down_to(0)


# Whole answers


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
async def test_a_json_answer_is_kept_and_replaced(kind: str) -> None:
    reply = answer(b'{"a":1}', content_type=kind, headers=[("X-Theirs", "a")])
    async with relaying(reply, keeps_whole=True) as relay:
        got = await asked(relay.port)
        assert (got.status, got.body, got.framing) == (200, b'<{"a":1}>', "length")
        assert (got.header("content-type"), got.header("content-length")) == (kind, "9")
        assert (got.header("x-theirs"), got.header("x-ours")) == ("a", "yes")


async def test_nothing_is_said_of_a_json_answer_before_it_is_complete() -> None:
    gate = Gate()
    script = (
        Write(head(200, [("Content-Type", "application/json"), ("Content-Length", "4")]) + b"{"),
        gate,
        Write(b" } "),
    )
    async with relaying(script, keeps_whole=True) as relay, connected(relay.port) as client:
        client.ask("POST", "/v1/x", body=b"{}")
        await eventually(lambda: relay.exchanges and relay.exchanges[0]._held)
        assert not relay.exchanges[0].opened
        gate.open()
        assert (await client.over()).body == b"<{ } >"


async def test_what_a_head_says_of_other_bytes_is_left_out() -> None:
    names = ["ETag", "Digest", "Content-MD5", "Content-Digest"]
    reply = json_answer({}, headers=[(name, "x") for name in names])
    async with relaying(reply, keeps_whole=True) as relay:
        got = await asked(relay.port)
        assert [got.header(name.lower()) for name in names] == [None] * 4
    async with relaying(reply) as relay:
        got = await asked(relay.port)
        assert [got.header(name.lower()) for name in names] == ["x"] * 4


async def test_a_json_answer_that_breaks_off_can_be_tried_elsewhere() -> None:
    lines = [("Content-Type", "application/json"), ("Content-Length", "9")]
    async with relaying((Write(head(200, lines) + b"{"), Reset()), keeps_whole=True) as relay:
        assert (await asked(relay.port)).status == 502
        assert isinstance(relay.failures[0], UpstreamClosed)


@pytest.mark.parametrize(
    "reply",
    [
        json_answer({"error": "x"}, 400),
        json_answer({"error": "x"}, 503),
        json_answer({}, 201),
        json_answer({}, headers=[("Content-Encoding", "gzip")]),
        answer(b"\x00", content_type="audio/mpeg"),
        answer(b"{}\n{}\n", content_type="application/jsonl"),
        answer(b"{}", content_type="text/plain"),
        answer(b"{}", content_type=None),
    ],
)
async def test_any_other_answer_passes_as_it_came(reply: Script) -> None:
    bodies = []
    for keeps_whole in (False, True):
        async with relaying(reply, keeps_whole=keeps_whole) as relay:
            got = await asked(relay.port)
            assert not relay.exchanges[0].is_whole
            assert got.head is not None
            bodies.append((got.head, got.body))
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize("kind", ["text/plain; charset=utf-8", "text/html", None])
async def test_text_is_kept_for_a_reader_of_nothing_but_json(kind: str | None) -> None:
    reply = answer(b"hi", content_type=kind)
    async with relaying(reply, keeps_whole=True, wraps_text=True) as relay:
        got = await asked(relay.port)
        assert (got.body, got.header("content-type")) == (b"<hi>", "application/json")


async def test_the_answer_to_head_is_not_kept() -> None:
    script = (Write(head(200, [("Content-Length", "17"), ("Content-Type", "application/json")])),)
    async with relaying(script, keeps_whole=True, wraps_text=True) as relay:
        got = await asked(relay.port, "HEAD")
        assert (got.status, got.body, got.header("content-length")) == (200, b"", "17")


@pytest.mark.parametrize("has_length", [True, False])
async def test_a_json_answer_too_large_to_keep_goes_on_as_it_comes(
    monkeypatch: pytest.MonkeyPatch, has_length: bool
) -> None:
    monkeypatch.setattr(module, "WHOLE_MAX_BYTES", 100_000)
    said = b'{"a":"' + b"x" * 200_000 + b'"}'
    framing = ("Content-Length", str(len(said))) if has_length else ("Transfer-Encoding", "chunked")
    begun = head(200, [("Content-Type", "application/json"), framing])
    gate = Gate()
    parts = [said[:150_000], said[150_000:]]
    first, second = (Write(part) if has_length else chunk(part) for part in parts)
    script: Script = (Write(begun), first, gate, second)
    if not has_length:
        script = (*script, END)
    async with relaying(script, keeps_whole=True) as relay, connected(relay.port) as client:
        client.ask("POST", "/v1/x", body=b"{}")
        assert await client.body_of(150_000) == parts[0]
        assert not relay.exchanges[0]._held
        gate.open()
        got = await client.over()
        assert (got.body, got.framing) == (said, "length" if has_length else "chunked")


async def test_no_more_of_a_json_answer_is_kept_than_the_limit() -> None:
    piece = b" " * 65_536
    script = (stream_head(content_type="application/json"), *[chunk(piece)] * 400, END)
    most = 0

    async with relaying(script, keeps_whole=True) as relay, connected(relay.port) as client:
        client.stop_reading()
        client.ask("POST", "/v1/x", body=b"{}")

        def held_back() -> bool:
            nonlocal most
            if relay.exchanges:
                most = max(most, relay.exchanges[0]._held_bytes)
                return relay.exchanges[0]._outbound.is_paused
            return False

        await eventually(held_back)
        assert most <= module.WHOLE_MAX_BYTES + 1024 * 1024
        client.read_on()
        assert len((await client.over()).body) == 400 * len(piece)
