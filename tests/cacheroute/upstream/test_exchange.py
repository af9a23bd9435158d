"""One request with one Instance, between a real client and a scripted server."""

import pytest

from cacheroute.core.errors import (
    UpstreamClosed,
    UpstreamConnectError,
    UpstreamProtocolError,
    UpstreamTimeout,
)
from cacheroute.core.limits import Limits, Timeouts
from cacheroute.upstream.exchange import Exchange
from cacheroute.upstream.usage import Usage
from tests.cacheroute.upstream.relaying import relaying
from tests.support.client import Answer, connected, fetch
from tests.support.openai_shapes import DONE, token
from tests.support.script import (
    END,
    Freeze,
    Gate,
    Reset,
    Write,
    answer,
    chunk,
    head,
    json_answer,
    stream,
    stream_head,
)
from tests.support.waiting import eventually


async def asked(port: int, method: str = "POST") -> Answer:
    return await fetch(port, method, "/v1/x", body=b"{}" if method == "POST" else None)


# Passing on


async def test_a_json_answer_passes_whole_with_its_length_and_a_line_of_ours() -> None:
    said = b'{"usage":{"prompt_tokens":3}}'
    async with relaying(answer(said, headers=[("X-Theirs", "a"), ("x-theirs", "b")])) as relay:
        got = await asked(relay.port)
        assert (got.status, got.body, got.framing) == (200, said, "length")
        assert got.header("x-ours") == "yes"
        assert got.head is not None
        assert got.head.all("x-theirs") == [b"a", b"b"]
        (exchange,) = relay.exchanges
        assert (exchange.ended, exchange.is_stream, exchange.status) == (True, False, 200)
        assert exchange.watch.usage is not None


@pytest.mark.parametrize("status", [201, 299, 400, 404, 418, 500, 599])
async def test_any_status_passes_with_its_body(status: int) -> None:
    async with relaying(answer(b"because", status, "text/plain")) as relay:
        got = await asked(relay.port)
        assert (got.status, got.body) == (status, b"because")


async def test_a_stream_passes_with_what_keeps_intermediaries_away() -> None:
    said = [token("a"), token("b"), DONE]
    async with relaying(stream(*said)) as relay:
        got = await asked(relay.port)
        assert got.body == b"".join(said)
        assert got.framing == "chunked"
        assert got.header("cache-control") == "no-cache, no-transform"
        assert got.header("x-accel-buffering") == "no"


async def test_what_the_instance_says_of_caching_is_not_said_twice() -> None:
    headers = [("Cache-Control", "no-store"), ("X-Accel-Buffering", "yes")]
    async with relaying(stream(token("a"), DONE, headers=headers)) as relay:
        got = await asked(relay.port)
        assert got.header("cache-control") == "no-store"
        assert got.header("x-accel-buffering") == "yes"


async def test_a_json_answer_gets_no_word_about_caching() -> None:
    async with relaying(json_answer({})) as relay:
        assert (await asked(relay.port)).header("cache-control") is None


async def test_the_answer_to_head_has_a_length_and_no_body() -> None:
    script = (Write(head(200, [("Content-Length", "17"), ("Content-Type", "application/json")])),)
    async with relaying(script) as relay:
        got = await asked(relay.port, "HEAD")
        assert (got.status, got.body, got.header("content-length")) == (200, b"", "17")


async def test_a_piece_goes_on_before_the_next_one_is_written() -> None:
    gate = Gate()
    script = (stream_head(), chunk(token("a")), gate, chunk(token("b")), END)
    async with relaying(script) as relay, connected(relay.port) as client:
        client.ask("POST", "/v1/x", body=b"{}")
        assert await client.body_of(len(token("a"))) == token("a")
        gate.open()
        assert (await client.over()).body == token("a") + token("b")


# Opening


async def test_the_head_of_a_json_answer_is_not_held_for_its_body() -> None:
    gate = Gate()
    script = (Write(head(200, [("Content-Type", "application/json"), ("Content-Length", "2")])),
              gate, Write(b"{}"))  # fmt: skip
    async with relaying(script) as relay, connected(relay.port) as client:
        client.ask("POST", "/v1/x", body=b"{}")
        await eventually(lambda: relay.exchanges and relay.exchanges[0].opened)
        assert not relay.exchanges[0].ended
        gate.open()
        assert (await client.over()).body == b"{}"


async def test_the_head_of_a_stream_waits_until_it_is_known_how_it_opens() -> None:
    gate, second = Gate(), Gate()
    first = b'data: {"error"'
    rest = b': {"message": "boom", "code": 503}}\n\n'
    script = (stream_head(), chunk(first), gate, chunk(rest), second, END)
    seen: list[tuple[bool, str | None]] = []

    def look(exchange: Exchange) -> None:
        seen.append((exchange.opened, exchange.watch.error))

    async with relaying(script) as relay, connected(relay.port) as client:
        relay.before_relay = look
        client.ask("POST", "/v1/x", body=b"{}")
        await eventually(lambda: relay.exchanges and relay.exchanges[0]._held)
        assert client.answer.head is None
        assert not seen
        gate.open()
        await client.body_of(len(first + rest))
        assert seen == [(True, "boom")]
        second.open()
        assert (await client.over()).body == first + rest


@pytest.mark.parametrize("opening", [b": ping\n\n", b'data: {"id":', b"data: [DONE]\n\n"])
async def test_a_comment_or_an_answer_that_begins_lets_the_head_go(opening: bytes) -> None:
    gate = Gate()
    async with (
        relaying((stream_head(), chunk(opening), gate, END)) as relay,
        connected(relay.port) as client,
    ):
        client.ask("POST", "/v1/x", body=b"{}")
        assert await client.body_of(len(opening)) == opening
        gate.open()
        await client.over()


@pytest.mark.parametrize("status", [400, 500])
async def test_only_the_stream_of_a_200_is_held(status: int) -> None:
    gate = Gate()
    script = (
        Write(head(status, [("Content-Type", "text/event-stream"), ("Content-Length", "2")])),
        gate,
        Write(b"\n\n"),
    )
    async with relaying(script) as relay, connected(relay.port) as client:
        client.ask("POST", "/v1/x", body=b"{}")
        await eventually(lambda: relay.exchanges and relay.exchanges[0].opened)
        gate.open()
        assert (await client.over()).status == status


async def test_an_empty_stream_opens_by_ending() -> None:
    async with relaying((stream_head(), END)) as relay:
        got = await asked(relay.port)
        assert (got.status, got.body, got.whole) == (200, b"", True)


async def test_a_coded_stream_is_neither_read_nor_held() -> None:
    gate = Gate()
    script = (stream_head([("Content-Encoding", "gzip")]), chunk(b"\x1f\x8b"), gate, END)
    async with relaying(script) as relay, connected(relay.port) as client:
        client.ask("POST", "/v1/x", body=b"{}")
        assert await client.body_of(2) == b"\x1f\x8b"
        assert not relay.exchanges[0].is_stream
        gate.open()
        await client.over()


@pytest.mark.parametrize("name", ["Text/Event-Stream", "text/event-stream;charset=utf-8"])
async def test_a_media_type_means_the_same_in_any_case(name: str) -> None:
    async with relaying((stream_head(content_type=name), chunk(DONE), END)) as relay:
        await asked(relay.port)
        assert relay.exchanges[0].is_stream


# Failing


async def test_a_refused_connection_is_known_before_anything_is_sent() -> None:
    async with relaying(json_answer({})) as relay:
        relay.backend.refuse()
        got = await asked(relay.port)
        assert got.status == 502
        assert isinstance(relay.failures[0], UpstreamConnectError)
        assert relay.failures[0].peer == relay.backend.authority


@pytest.mark.parametrize(
    "script",
    [
        (Reset(),),
        (Write(b"HTTP/1.1 200 OK\r\n"), Reset()),
        (stream_head(), Reset()),
        (stream_head(), chunk(b'data: {"err'), Reset()),
    ],
    ids=["no byte", "half a head", "a head", "half an error"],
)  # fmt: skip
async def test_what_breaks_before_it_opens_can_still_be_tried_elsewhere(script: object) -> None:
    async with relaying(script) as relay:  # type: ignore[arg-type]
        got = await asked(relay.port)
        assert got.status == 502
        assert isinstance(relay.failures[0], UpstreamClosed)


async def test_what_breaks_later_ends_the_answer_that_has_begun() -> None:
    async with relaying((stream_head(), chunk(token("a")), Reset())) as relay:
        got = await asked(relay.port)
        assert got.cut
        assert got.body == token("a")
        assert isinstance(relay.failures[0], UpstreamClosed)


async def test_an_event_beyond_the_limit_ends_the_stream() -> None:
    async with relaying(
        (stream_head(), chunk(token("a")), chunk(b"data: " + b"x" * 2000), Freeze()),
        Limits(event_bytes=1000),
    ) as relay:
        got = await asked(relay.port)
        assert got.cut
        (error,) = relay.failures
        assert isinstance(error, UpstreamProtocolError)
        assert "1000 bytes (limits.event_bytes)" in error.message
        await relay.backend.closed_down_to(0)


async def test_a_large_event_is_passed_on_unchanged_and_what_follows_is_read() -> None:
    large = token("x" * 3_000_000)
    counted = b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n'
    async with relaying(stream(token("a"), large, counted, DONE)) as relay:
        got = await asked(relay.port)
        assert got.whole
        assert got.body == token("a") + large + counted + DONE
        assert relay.exchanges[0].watch.usage == Usage(1, 2, None)


async def test_silence_is_told_by_the_limit_it_has_broken() -> None:
    async with relaying((Freeze(),), timeouts=Timeouts(first_byte_s=0.1)) as relay:
        got = await asked(relay.port)
        assert got.status == 504
        (error,) = relay.failures
        assert isinstance(error, UpstreamTimeout)
        assert "timeouts.first_byte_s" in error.message


# Ending


async def test_the_client_sees_the_end_after_the_books_are_settled() -> None:
    """The last piece is kept until `finish`, so no caller is faster than our counters."""
    seen: list[tuple[bytes, bool]] = []
    async with relaying(json_answer({"a": 1})) as relay, connected(relay.port) as client:
        relay.before_finish = lambda exchange: seen.append((client.answer.body, exchange.ended))
        client.ask("POST", "/v1/x", body=b"{}")
        assert (await client.over()).json() == {"a": 1}
        assert seen == [(b"", True)]


async def test_who_walks_away_is_seen_to_leave_at_once() -> None:
    script = (stream_head(), chunk(token("a")), Freeze())
    async with relaying(script) as relay, connected(relay.port) as client:
        client.ask("POST", "/v1/x", body=b"{}")
        await client.body_of(1)
        relay.exchanges[0].abandon()
        await relay.backend.closed_down_to(0)


async def test_header_lines_can_be_left_out_and_single_ones_be_asked_for() -> None:
    fields: list[bytes | None] = []

    def look(exchange: Exchange) -> None:
        exchange.drop_lines(b"access-control-")
        fields.extend([exchange.field(b"retry-after"), exchange.field(b"x-other")])

    headers = [("Access-Control-Allow-Origin", "*"), ("Retry-After", "7"), ("X-Other", "1")]
    async with relaying(json_answer({}, 429, headers)) as relay:
        relay.before_relay = look
        got = await asked(relay.port)
        assert got.header("access-control-allow-origin") is None
        assert (got.header("retry-after"), got.header("x-other")) == ("7", "1")
        assert fields == [b"7", None]


async def test_a_client_that_reads_nothing_holds_the_instance_back() -> None:
    piece = b"data: " + b"x" * 65_000 + b"\n\n"
    script = (stream_head(), *[chunk(piece)] * 400, END)
    async with relaying(script) as relay, connected(relay.port) as client:
        client.stop_reading()
        client.ask("POST", "/v1/x", body=b"{}")
        await eventually(lambda: relay.exchanges and relay.exchanges[0]._outbound.is_paused)
        client.read_on()
        assert len((await client.over()).body) == 400 * len(piece)
