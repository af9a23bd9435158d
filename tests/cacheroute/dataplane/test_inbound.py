"""What a client is told, by whichever of the ways an answer can be given."""

import pytest

from cacheroute.dataplane.inbound import Inbound
from tests.cacheroute.dataplane.wire_parts import (
    PING,
    all_but_stuck,
    both_loops,
    feed,
    hold,
    post,
    request,
    serving,
    slow_reader,
    wired,
)
from tests.support.client import connected, fetch
from tests.support.waiting import eventually

TEXT = [(b"Content-Type", b"text/plain")]
LARGE = bytes(range(256)) * 256


async def test_a_request_is_handed_over_with_everything_the_client_wrote() -> None:
    async with serving() as served, connected(served.port) as client:
        client.expect()
        lines = b"X-Twice: 1", b"x-twice: 2", b"X-Bytes: caf\xc3\xa9"
        client.send(post(b"body", *lines, target=b"/a/%20b?x=1&y=?"))
        await client.over()
        (inbound,) = served.requests
        assert (inbound.method, inbound.path, inbound.query) == ("POST", "/a/%20b", b"x=1&y=?")
        assert inbound.headers == [
            (b"Host", b"a"),
            (b"X-Twice", b"1"),
            (b"x-twice", b"2"),
            (b"X-Bytes", b"caf\xc3\xa9"),
            (b"Content-Length", b"4"),
        ]
        assert inbound.header(b"x-twice") == b"1"
        assert inbound.header(b"x-bytes") == b"caf\xc3\xa9"
        assert inbound.header(b"accept") is None
        assert inbound.body == b"body"


@pytest.mark.parametrize("body", [b"", b"x", LARGE], ids=len)
async def test_a_whole_answer_has_its_length_and_leaves_in_one_write(body: bytes) -> None:
    async with serving(lambda inbound: inbound.respond(200, TEXT, body)) as served:
        got = await fetch(served.port, "GET", "/")
        assert got.framing == "length"
        assert got.body == body
        assert got.header("content-type") == "text/plain"
        assert got.header("connection") is None
        async with wired(served) as (connection, wire):
            await feed(connection, wire, [PING])
        assert len(wire.writes) == 1
        assert served.requests[-1].bytes_out == len(body)


@pytest.mark.parametrize("last", [b"", b"end", LARGE], ids=len)
async def test_a_streamed_answer_arrives_piece_by_piece_and_ends_whole(last: bytes) -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        assert not inbound.begun
        inbound.start(201, TEXT)
        assert inbound.begun
        inbound.write(b"one")
        got = await client.until(lambda answer: answer.body == b"one")
        assert got.status == inbound.status == 201
        assert got.framing == "chunked"
        inbound.write(LARGE)
        await client.until(lambda answer: answer.body == b"one" + LARGE)
        inbound.finish(last)
        assert (await client.over()).whole
        assert got.body == b"one" + LARGE + last
        assert inbound.bytes_out == len(got.body)


async def test_the_head_leaves_with_the_first_piece_and_the_end_with_the_last() -> None:
    async with serving(hold) as served, wired(served) as (connection, wire):
        connection.data_received(PING)
        (inbound,) = served.requests
        inbound.start(200, TEXT)
        assert not wire.writes
        inbound.write(b"one")
        inbound.finish(b"two")
        head, last = wire.writes
        assert head.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n")
        assert head.endswith(b"\r\n\r\n3\r\none\r\n")
        assert last == b"3\r\ntwo\r\n0\r\n\r\n"


async def test_an_empty_piece_sends_the_head_at_once_and_never_ends_the_answer() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        inbound.start(200)
        inbound.write(b"")
        got = await client.until(lambda answer: answer.head is not None)
        inbound.write(b"")
        inbound.write(b"on it goes")
        await client.until(lambda answer: answer.body == b"on it goes")
        assert not got.whole
        inbound.finish()
        assert (await client.over()).whole
        again = client.ask()
        (await served.request(2)).respond(204)
        assert (await client.over()) is again


async def test_a_streamed_answer_without_any_piece_is_whole() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        inbound.start(200)
        inbound.finish()
        got = await client.over()
        assert (got.whole, got.framing, got.body) == (True, "chunked", b"")


async def test_an_answer_of_announced_length_may_come_in_pieces() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        inbound.begin(200, b"X-Ours: 1\r\n", len(LARGE) + 3)
        inbound.write(LARGE)
        inbound.finish(b"end")
        got = await client.over()
        assert got.framing == "length"
        assert got.body == LARGE + b"end"
        assert got.header("x-ours") == "1"


def whole(inbound: Inbound) -> None:
    """Answer whole."""
    inbound.respond(200, TEXT, b"hello")


def streamed(inbound: Inbound) -> None:
    """Answer in pieces."""
    inbound.start(200, TEXT)
    inbound.write(b"hel")
    inbound.finish(b"lo")


async def test_head_is_answered_with_the_headers_of_get_and_no_body() -> None:
    async with serving(whole) as served, connected(served.port) as client:
        client.ask("HEAD", "/")
        got = await client.over()
        assert got.header("content-length") == "5"
        assert got.body == b""
        client.ask("GET", "/")
        assert (await client.over()).body == b"hello"
        assert [inbound.bytes_out for inbound in served.requests] == [0, 5]


async def test_a_streamed_head_has_no_chunks_either() -> None:
    async with serving(streamed) as served, connected(served.port) as client:
        client.ask("HEAD", "/")
        got = await client.over()
        assert got.header("transfer-encoding") == "chunked"
        client.ask("GET", "/")
        assert (await client.over()).body == b"hello"


@pytest.mark.parametrize("status", [204, 304])
@pytest.mark.parametrize("in_pieces", [False, True], ids=["whole", "in pieces"])
async def test_no_content_and_not_modified_never_have_a_body_or_a_framing(
    status: int, in_pieces: bool
) -> None:
    def answer(inbound: Inbound) -> None:
        if in_pieces:
            inbound.start(status)
            inbound.write(b"stray")
            inbound.finish(b"stray")
        else:
            inbound.respond(status, (), b"stray")

    async with serving(answer) as served, connected(served.port) as client:
        for _ in range(2):
            client.ask()
            got = await client.over()
            assert got.status == status
            assert got.header("content-length") is None
            assert got.header("transfer-encoding") is None
        assert served.server.connections == 1


@pytest.mark.parametrize("handler", [whole, streamed])
async def test_a_client_of_http_1_0_gets_no_chunks_and_is_closed(handler: object) -> None:
    async with (
        serving(whole if handler is whole else streamed) as served,
        connected(served.port) as client,
    ):
        client.expect("GET")
        client.send(b"GET / HTTP/1.0\r\n\r\n")
        got = await client.disconnected()
        assert got.body == b"hello"
        assert got.header("transfer-encoding") is None
        assert got.header("connection") == "close"
        assert got.framing == ("length" if handler is whole else "eof")
        assert got.ended == "fin"


async def test_a_client_of_http_1_0_may_ask_to_stay_if_the_answer_has_a_length() -> None:
    async with serving(whole) as served, connected(served.port) as client:
        for _ in range(2):
            client.expect("GET")
            client.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            got = await client.over()
            assert got.header("connection") == "keep-alive"
        assert not got.ended
        assert served.server.connections == 1


async def test_a_client_of_http_1_0_that_asks_to_stay_is_closed_after_a_stream() -> None:
    async with serving(streamed) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        got = await client.disconnected()
        assert got.header("connection") == "close"
        assert got.body == b"hello"


@both_loops
async def test_a_cut_answer_arrives_as_far_as_it_went_and_is_seen_to_be_cut() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        inbound.start(200)
        inbound.write(LARGE)
        inbound.cut()
        got = await client.disconnected()
        assert got.cut
        assert got.body == LARGE
        assert not served.gone


@both_loops
async def test_an_answer_that_ends_by_closing_is_cut_by_a_reset() -> None:
    """After an ordinary close its reader would take half of an answer for the whole."""
    async with serving(hold) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(b"GET / HTTP/1.0\r\n\r\n")
        inbound = await served.request()
        inbound.start(200)
        inbound.write(LARGE)
        inbound.cut()
        got = await client.disconnected()
        assert (got.framing, got.ended, got.whole) == ("eof", "reset", False)
        assert got.body == LARGE
        await served.connected(0)
        assert not served.gone


async def test_a_cut_before_the_first_piece_still_sends_the_head() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        inbound.begin(200, b"", 100)
        inbound.cut()
        got = await client.disconnected()
        assert got.status == 200
        assert got.cut


async def test_a_cut_answer_reaches_a_client_that_reads_late_however_long_it_had_run() -> None:
    async with serving(hold) as served, slow_reader(served.port) as client:
        client.ask()
        inbound = await served.request()
        served.tick(50.0)
        inbound.start(200)
        await all_but_stuck(served, inbound)
        inbound.cut()
        served.tick(5.0)
        client.read_on()
        got = await client.disconnected()
        assert got.cut
        assert len(got.body) == inbound.bytes_out


@both_loops
async def test_an_aborted_answer_ends_with_a_reset() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        inbound.start(200)
        inbound.write(b"part")
        await client.body_of(4)
        inbound.abort()
        got = await client.disconnected()
        assert got.ended == "reset"
        assert got.cut
        await served.connected(0)
        assert not served.gone


@both_loops
@pytest.mark.parametrize("begun", [False, True], ids=["before the answer", "in its middle"])
async def test_whoever_answers_hears_once_that_the_client_has_left(begun: bool) -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        if begun:
            inbound.start(200)
            inbound.write(b"part")
            await client.body_of(4)
        client.reset()
        await served.connected(0)
        assert served.gone == [inbound]
        served.tick(1000.0)
        inbound.abort()
        assert served.gone == [inbound]


async def test_a_client_that_leaves_after_its_answer_is_no_news() -> None:
    async with serving(whole) as served, connected(served.port) as client:
        client.ask()
        await client.over()
        client.reset()
        await served.connected(0)
        assert not served.gone


async def test_answering_a_client_that_has_left_is_harmless() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        client.reset()
        await served.connected(0)
        inbound.start(200)
        for _ in range(20):
            inbound.write(b"x")
            inbound.write(LARGE)
        inbound.finish()
        assert served.gone == [inbound]


@both_loops
async def test_whoever_answers_is_told_when_the_client_is_behind_and_when_it_catches_up() -> None:
    notes: list[str] = []
    async with serving(hold) as served, slow_reader(served.port) as client:
        client.ask()
        inbound = await served.request()
        inbound.on_pause = lambda: notes.append("pause")
        inbound.on_resume = lambda: notes.append("resume")
        inbound.start(200)
        while not inbound.write_paused:
            inbound.write(LARGE)
        assert notes == ["pause"]
        client.read_on()
        await client.body_of(inbound.bytes_out)
        await eventually(lambda: notes == ["pause", "resume"])
        assert not inbound.write_paused
        inbound.finish()
        assert (await client.over()).whole


async def test_the_next_answer_on_a_connection_does_not_tell_the_one_before() -> None:
    async with serving(hold) as served, slow_reader(served.port) as client:
        client.send(PING + PING)
        first = await served.request()
        first.on_pause = first.on_resume = lambda: pytest.fail("this answer is over")
        first.respond(200)
        second = await served.request(2)
        second.start(200)
        while not second.write_paused:
            second.write(LARGE)
        client.reset()
        await served.connected(0)
        assert served.gone == [second]


async def test_an_answer_says_that_it_is_the_last_one() -> None:
    async with serving(whole) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(request(b"Connection: close", method=b"GET"))
        got = await client.disconnected()
        assert got.header("connection") == "close"
        assert got.whole
        assert got.ended == "fin"
