"""Requests that could be read in two ways are refused, and the connection is closed.

Nobody can say where the next request would begin, and somebody in front of us may have
read this one in the other way.
"""

import json

import pytest

from cacheroute.core.limits import Limits
from tests.cacheroute.dataplane.wire_parts import (
    HOST,
    PING,
    both_loops,
    chunked,
    echo,
    hold,
    post,
    request,
    said,
    serving,
    understood,
)
from tests.support.client import connected
from tests.support.waiting import eventually

GET = b"GET / HTTP/1.1\r\n"
POST = b"POST / HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
TWICE = b"may appear only once"

HEADS_THAT_ARE_400 = {
    "no Host": GET + b"\r\n",
    "two Hosts": GET + HOST + HOST + b"\r\n",
    "two Hosts that differ in case": GET + HOST + b"HOST: b\r\n\r\n",
    "no colon": GET + HOST + b"Accept\r\n\r\n",
    "no name": GET + HOST + b": x\r\n\r\n",
    "blank before the colon": GET + b"Host : a\r\n\r\n",
    "blank in a name": GET + HOST + b"X Y: a\r\n\r\n",
    "folded line": GET + HOST + b"X: a\r\n b\r\n\r\n",
    "folded by tab": GET + HOST + b"X: a\r\n\tb\r\n\r\n",
    "blank before the first header": GET + b" X: a\r\n" + HOST + b"\r\n",
    "bare LF everywhere": b"GET / HTTP/1.1\nHost: a\n\n",
    "bare LF after a header": GET + b"Host: a\nX: b\r\n\r\n",
    "bare CR in a value": GET + HOST + b"X: a\rb\r\n\r\n",
    "NUL in a value": GET + HOST + b"X: a\x00b\r\n\r\n",
    "NUL in a name": GET + HOST + b"X\x00: b\r\n\r\n",
    "control byte in a value": GET + HOST + b"X: a\x01b\r\n\r\n",
    "DEL in a value": GET + HOST + b"X: a\x7fb\r\n\r\n",
    "NUL in the target": b"GET /\x00 HTTP/1.1\r\n" + HOST + b"\r\n",
    "control byte in the target": b"GET /\x1b HTTP/1.1\r\n" + HOST + b"\r\n",
    "high byte in the target": b"GET /\xe9 HTTP/1.1\r\n" + HOST + b"\r\n",
    "relative target": b"GET health HTTP/1.1\r\n" + HOST + b"\r\n",
    "two blanks after the target": b"GET / a HTTP/1.1\r\n" + HOST + b"\r\n",
    "blank after the version": b"GET / HTTP/1.1 \r\n" + HOST + b"\r\n",
    "lower-case method": b"get / HTTP/1.1\r\n" + HOST + b"\r\n",
    "unknown method": b"FROB / HTTP/1.1\r\n" + HOST + b"\r\n",
    "a TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(32),
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "another protocol": b"GET / ICE/1.0\r\n" + HOST + b"\r\n",
    "a version of three digits": b"GET / HTTP/1.10\r\n" + HOST + b"\r\n",
    "a lower-case version": b"GET / http/1.1\r\n" + HOST + b"\r\n",
    "HTTP/1.2": b"GET / HTTP/1.2\r\n" + HOST + b"\r\n",
}

FRAMINGS_THAT_ARE_400 = {
    "negative length": POST + b"Content-Length: -5\r\n\r\nhello",
    "length with a plus": POST + b"Content-Length: +5\r\n\r\nhello",
    "hexadecimal length": POST + b"Content-Length: 0x5\r\n\r\nhello",
    "empty length": POST + b"Content-Length:\r\n\r\nhello",
    "length with a fraction": POST + b"Content-Length: 5.0\r\n\r\nhello",
    "length with an underscore": POST + b"Content-Length: 1_0\r\n\r\nhellohello",
    "two lengths in a line": POST + b"Content-Length: 5, 5\r\n\r\nhello",
    "two lengths with a blank": POST + b"Content-Length: 5 5\r\n\r\nhello",
    "the same length twice": POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "a length beyond 64 bits": POST + b"Content-Length: 18446744073709551621\r\n\r\nhello",
    "a length of 5,000 digits": POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
    "length, then chunked": (
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"hello")
    ),
    "chunked, then length": (
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" + chunked(b"hello")
    ),
    "chunked twice": POST + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n" + chunked(b"hello"),
    "chunked twice in a line": POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + chunked(),
    "gzip, chunked": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked(b"hello"),
    "gzip, then chunked": (
        POST + b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked()
    ),
    "chunked, gzip": POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n" + chunked(b"hello"),
    "identity": POST + b"Transfer-Encoding: identity\r\n\r\nhello",
    "identity and a length": (
        POST + b"Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello"
    ),
    "no coding": POST + b"Transfer-Encoding:\r\n\r\n" + chunked(),
    "a coding nobody knows": POST + b"Transfer-Encoding: xchunked\r\n\r\n" + chunked(),
    "a quoted coding": POST + b'Transfer-Encoding: "chunked"\r\n\r\n' + chunked(),
    "vertical tab before the coding": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + chunked(),
    "a coding in HTTP/1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(),
}

CHUNKS_THAT_ARE_400 = {
    "size with a minus": b"-5\r\nhello\r\n0\r\n\r\n",
    "size with a plus": b"+5\r\nhello\r\n0\r\n\r\n",
    "size with 0x": b"0x5\r\nhello\r\n0\r\n\r\n",
    "size that is no number": b"hello\r\n",
    "no size": b"\r\nhello\r\n0\r\n\r\n",
    "blank after the size": b"5 \r\nhello\r\n0\r\n\r\n",
    "blank before the size": b" 5\r\nhello\r\n0\r\n\r\n",
    "size of 17 digits": b"F" * 17 + b"\r\nhello",
    "size of 64 bits and 5": b"10000000000000005\r\nhello\r\n0\r\n\r\n",
    "bare LF after the size": b"5\nhello\r\n0\r\n\r\n",
    "bare LF after the data": b"5\r\nhello\n0\r\n\r\n",
    "bare CR after the size": b"5\rhello\r\n0\r\n\r\n",
    "data longer than the size": b"4\r\nhello\r\n0\r\n\r\n",
    "NUL in an extension": b"5;a=\x00\r\nhello\r\n0\r\n\r\n",
    "bare LF in an extension": b"5;a\nhello\r\n0\r\n\r\n",
    "trailer without a colon": b"5\r\nhello\r\n0\r\nX\r\n\r\n",
    "a length in a trailer": b"5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n",
    "a coding in a trailer": b"5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "NUL in a trailer": b"5\r\nhello\r\n0\r\nX: \x00\r\n\r\n",
}


async def refused(data: bytes, status: int = 400) -> bytes:
    """Send bytes that must be refused without reaching anybody; returns what is said."""
    async with serving() as served, connected(served.port) as client:
        client.expect()
        client.send(data)
        got = await client.disconnected()
        assert got.status == status, got.body
        assert got.header("connection") == "close"
        assert got.ended == "fin"
        assert got.whole
        assert not served.requests
        assert served.server.connections == 1
        client.close()
        await served.connected(0)
        return got.body


@pytest.mark.parametrize("case", HEADS_THAT_ARE_400)
async def test_a_head_that_is_not_clean_is_refused(case: str) -> None:
    await refused(HEADS_THAT_ARE_400[case])


@pytest.mark.parametrize("case", FRAMINGS_THAT_ARE_400)
async def test_a_framing_that_can_be_read_in_two_ways_is_refused(case: str) -> None:
    await refused(FRAMINGS_THAT_ARE_400[case])


@pytest.mark.parametrize("case", CHUNKS_THAT_ARE_400)
async def test_a_broken_chunk_is_refused(case: str) -> None:
    await refused(CHUNKED + CHUNKS_THAT_ARE_400[case])


@pytest.mark.parametrize(
    ("data", "version"),
    [
        (b"GET /\r\n\r\n", b"0.9"),
        (b"GET / HTTP/0.9\r\n\r\n", b"0.9"),
        (b"GET / HTTP/2.0\r\n" + HOST + b"\r\n", b"2.0"),
    ],
)
async def test_other_versions_are_not_spoken(data: bytes, version: bytes) -> None:
    assert b"HTTP/" + version + b" is not spoken here" in await refused(data, 505)


@pytest.mark.parametrize("expectation", [b"100-continues", b"200-ok", b"100-continue, x", b""])
async def test_an_expectation_nobody_understands_is_417(expectation: bytes) -> None:
    head = request(b"Expect: " + expectation, b"Content-Length: 5")
    assert b"100-continue" in await refused(head, 417)


@both_loops
@pytest.mark.parametrize("case", ["no Host", "bare LF everywhere"])
async def test_a_refusal_arrives_although_the_client_is_still_sending(case: str) -> None:
    async with serving() as served, connected(served.port) as client:
        client.expect()
        client.send(HEADS_THAT_ARE_400[case] + bytes(4_000_000))
        got = await client.disconnected()
        assert got.status == 400
        assert got.whole
        assert got.ended == "fin"


async def test_a_refused_client_that_stays_is_dropped_after_a_moment() -> None:
    async with serving() as served, connected(served.port) as client:
        await said(client, HEADS_THAT_ARE_400["no Host"])
        served.tick(1.0)
        assert served.server.connections == 1
        served.tick(1.5)
        await served.connected(0)


async def test_what_comes_behind_a_refused_request_is_not_read() -> None:
    async with serving() as served, connected(served.port) as client:
        client.expect()
        client.send(GET + b"\r\n" + PING)
        await client.disconnected()
        client.send(PING)
        client.close()
        await served.connected(0)
        assert not served.requests
        assert not client.surplus


@pytest.mark.parametrize("together", [True, False], ids=["in one segment", "one after another"])
async def test_a_good_request_is_answered_although_a_broken_one_is_behind_it(
    together: bool,
) -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(PING + HEADS_THAT_ARE_400["no Host"] if together else PING)
        inbound = await served.request()
        if not together:
            client.send(HEADS_THAT_ARE_400["no Host"])
        assert inbound.path == "/ping"
        echo(inbound)
        got = await client.over()
        assert got.status == 200
        assert got.json()["path"] == "/ping"
        await client.disconnected()
        assert len(served.requests) == 1


async def test_every_good_request_is_answered_before_the_broken_one_is_refused() -> None:
    async with serving() as served, connected(served.port) as client:
        client.expect("GET")
        client.send(PING * 3 + HEADS_THAT_ARE_400["no Host"] + PING)
        for _ in range(3):
            assert (await client.over()).status == 200
            client.expect("GET")
        got = await client.disconnected()
        assert got.status == 400
        assert len(served.requests) == 3


async def test_nothing_comes_behind_a_cut_answer_although_a_broken_request_does() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.expect("GET")
        client.send(PING)
        inbound = await served.request()
        client.send(HEADS_THAT_ARE_400["no Host"])
        await eventually(lambda: served.connection._discard)
        inbound.start(200)
        inbound.write(b"part")
        inbound.cut()
        got = await client.disconnected()
        assert got.cut
        assert got.body == b"part"
        assert not client.surplus


@pytest.mark.parametrize("blanks", [b"", b" ", b"\t", b"  \t "], ids=repr)
async def test_blanks_around_a_value_are_not_part_of_it(blanks: bytes) -> None:
    async with serving() as served, connected(served.port) as client:
        line = b"Content-Length:" + blanks + b"5" + blanks
        assert (await understood(client, request(line) + b"hello"))["body"] == "hello"
        # The parser knows only a space behind a coding; to refuse a tab is safe.
        line = b"Transfer-Encoding:" + blanks + b"Chunked" + blanks.replace(b"\t", b"")
        sent = request(line) + chunked(b"hel", b"lo")
        assert (await understood(client, sent))["body"] == "hello"
        line = b"Expect:" + blanks + b"100-Continue" + blanks
        assert (await understood(client, post(b"hello", line)))["body"] == "hello"


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        (b"/", "/", ""),
        (b"/v1/models?x=1?y", "/v1/models", "x=1?y"),
        (b"//v1//models/", "//v1//models/", ""),
        (b"/%2e%2e/%00?%zz", "/%2e%2e/%00", "%zz"),
        (b"*", "*", ""),
        (b"http://a/v1/models?x=1", "/v1/models", "x=1"),
        (b"HTTPS://user@[::1]:80/v1//models", "/v1//models", ""),
        (b"http://a", "/", ""),
        (b"http://a?x=1", "/", "x=1"),
        (b"http://a?next=/admin", "/", "next=/admin"),
        (b"http://a/b?c=http://d/e", "/b", "c=http://d/e"),
    ],
)
async def test_every_form_of_target_becomes_a_path_and_a_query(
    target: bytes, path: str, query: str
) -> None:
    async with serving() as served, connected(served.port) as client:
        got = await understood(client, request(target=target, method=b"OPTIONS"), "OPTIONS")
        assert (got["path"], got["query"]) == (path, query)


async def test_blank_lines_before_a_request_are_skipped() -> None:
    async with serving() as served, connected(served.port) as client:
        assert (await understood(client, b"\r\n\r\n" + post(b"a")))["body"] == "a"
        assert (await understood(client, b"\r\n" + post(b"b")))["body"] == "b"


async def test_a_client_that_sends_only_blank_lines_is_not_refused_for_its_next_request() -> None:
    async with (
        serving(limits=Limits(head_bytes=512)) as served,
        connected(served.port) as client,
    ):
        client.send(b"\r\n" * 2000)
        assert (await understood(client, PING, "GET"))["path"] == "/ping"


async def test_connect_is_a_request_like_any_other_and_the_last_one() -> None:
    async with serving() as served, connected(served.port) as client:
        client.expect("CONNECT")
        client.send(b"CONNECT b:443 HTTP/1.1\r\n" + HOST + b"\r\n" + b"\x16\x03\x01" + PING)
        got = await client.disconnected()
        assert got.header("connection") == "close"
        assert got.json()["method"] == "CONNECT"
        assert len(served.requests) == 1


UPGRADES = {
    "websocket": (b"Connection: Upgrade", b"Upgrade: websocket"),
    "HTTP/2 in the clear": (
        b"Connection: Upgrade, HTTP2-Settings",
        b"Upgrade: h2c",
        b"HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA",
    ),
}


@pytest.mark.parametrize("lines", UPGRADES.values(), ids=UPGRADES)
async def test_an_offered_upgrade_is_not_taken_up(lines: tuple[bytes, ...]) -> None:
    async with serving() as served, connected(served.port) as client:
        got = await understood(client, request(*lines, method=b"GET"), "GET")
        assert got["method"] == "GET"


@pytest.mark.parametrize("cut", [False, True], ids=["in one segment", "body apart"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("lines", UPGRADES.values(), ids=UPGRADES)
async def test_the_body_of_a_request_that_offers_an_upgrade_is_read(
    lines: tuple[bytes, ...], framing: str, cut: bool
) -> None:
    # The clients of several languages offer HTTP/2 with every request in the clear.
    body = json.dumps({"prompt": "x" * 300}).encode()
    if framing == "length":
        head, sent = request(*lines, b"Content-Length: %d" % len(body)), body
    else:
        head, sent = request(*lines, b"Transfer-Encoding: chunked"), chunked(body)
    async with serving() as served, connected(served.port) as client:
        client.expect()
        if cut:
            client.send(head)
            await served.connected(1)
            client.send(sent)
        else:
            client.send(head + sent)
        assert (await client.over()).json()["body"] == body.decode()
        assert len(served.requests) == 1


async def test_the_body_of_a_request_that_offers_an_upgrade_is_never_read_as_a_request() -> None:
    async with serving() as served, connected(served.port) as client:
        head = request(*UPGRADES["websocket"], b"Content-Length: %d" % len(PING))
        client.expect()
        client.send(head)
        await served.connected(1)
        client.send(PING)
        await client.over()
        client.close()
        await served.connected(0)
        assert [inbound.method for inbound in served.requests] == ["POST"]


async def test_the_refusal_of_a_head_says_what_is_wrong() -> None:
    assert b"needs a Host header" in await refused(HEADS_THAT_ARE_400["no Host"])
    assert TWICE in await refused(HEADS_THAT_ARE_400["two Hosts"])
    assert b"'chunked'" in await refused(FRAMINGS_THAT_ARE_400["gzip, chunked"])
    assert b"not valid HTTP/1.1" in await refused(HEADS_THAT_ARE_400["folded line"])
