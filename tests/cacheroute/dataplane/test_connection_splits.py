"""Where the network cuts the bytes makes no difference to what is understood."""

import itertools
import re
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cacheroute.core.limits import Limits
from tests.cacheroute.dataplane.wire_parts import (
    Served,
    both_loops,
    chunked,
    feed,
    hold,
    post,
    request,
    serving,
    wired,
)
from tests.support.client import connected

TRAILERS = b"X-Sum: 1\r\nHost: evil\r\n"
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


@dataclass(frozen=True, slots=True)
class Sent:
    """One request: its bytes, and what must be understood of it."""

    data: bytes
    method: str
    path: str
    body: bytes


KINDS = {
    "bodiless": Sent(request(target=b"/a?b", method=b"GET"), "GET", "/a", b""),
    "length": Sent(post(b"hello", b"X: y", target=b"/b"), "POST", "/b", b"hello"),
    "length 0": Sent(post(b"", target=b"/c"), "POST", "/c", b""),
    "chunked": Sent(
        request(b"Transfer-Encoding: chunked", target=b"/d") + chunked(b"hel", b"l", b"o" * 17),
        "POST", "/d", b"hell" + b"o" * 17,
    ),
    "extensions and trailers": Sent(
        request(b"Transfer-Encoding: chunked", target=b"/e")
        + b'5;a=b;c="d"\r\nhello\r\n00;last\r\n' + TRAILERS + b"\r\n",
        "POST", "/e", b"hello",
    ),
    "no chunk": Sent(
        request(b"Transfer-Encoding: chunked", target=b"/f") + chunked(), "POST", "/f", b""
    ),
    "a body that looks like a request": Sent(post(post(b"x")), "POST", "/", post(b"x")),
}  # fmt: skip


def noted(served: Served) -> list[tuple[str, str, bytes, list[bytes]]]:
    """Return what reached the server, with the names of the header lines."""
    return [
        (each.method, each.path, each.body, [name for name, _ in each.headers])
        for each in served.requests
    ]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_request_may_be_cut_at_every_byte(kind: str) -> None:
    sent = KINDS[kind]
    async with serving() as served:
        async with wired(served) as (connection, wire):
            await feed(connection, wire, [sent.data])
        for cut in range(1, len(sent.data)):
            async with wired(served) as (connection, again):
                await feed(connection, again, [sent.data[:cut], sent.data[cut:]])
            assert again.written == wire.written, cut
        first, *others = noted(served)
        assert first[:3] == (sent.method, sent.path, sent.body)
        assert others == [first] * (len(sent.data) - 1)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_request_may_come_byte_by_byte(kind: str) -> None:
    sent = KINDS[kind]
    async with serving() as served, wired(served) as (connection, wire):
        await feed(connection, wire, [bytes([byte]) for byte in sent.data * 3])
        (first, *others) = noted(served)
        assert first[:3] == (sent.method, sent.path, sent.body)
        assert others == [first] * 2


bodies = st.binary(max_size=40)
requests = st.one_of(
    st.sampled_from(list(KINDS.values())),
    st.builds(lambda body: Sent(post(body), "POST", "/", body), bodies),
    st.builds(
        lambda pieces: Sent(
            request(b"Transfer-Encoding: chunked") + chunked(*pieces), "POST", "/", b"".join(pieces)
        ),
        st.lists(bodies.filter(bool), max_size=4),
    ),
)


@given(
    sent=st.lists(requests, min_size=1, max_size=8), cuts=st.sets(st.integers(0, 2000), max_size=12)
)
@settings(max_examples=80, deadline=None)
async def test_a_pipeline_of_requests_may_be_cut_anywhere(sent: list[Sent], cuts: set[int]) -> None:
    data = b"".join(each.data for each in sent)
    places = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    pieces = [data[start:end] for start, end in itertools.pairwise(places)]
    async with serving() as served, wired(served) as (connection, wire):
        await feed(connection, wire, pieces)
        assert [each[:3] for each in noted(served)] == [
            (each.method, each.path, each.body) for each in sent
        ]
        assert wire.written.count(b"HTTP/1.1 200 OK") == len(sent)


@given(noise=st.binary(max_size=60), place=st.integers(0, 200), kind=st.sampled_from(sorted(KINDS)))
@settings(max_examples=150, deadline=None)
async def test_noise_in_a_request_is_answered_or_refused_and_never_more(
    noise: bytes, place: int, kind: str
) -> None:
    data = KINDS[kind].data
    limits = Limits(head_bytes=1024, body_bytes=1024)
    async with (
        serving(limits=limits) as served,
        wired(served) as (connection, wire),
    ):
        await feed(connection, wire, [data[:place] + noise + data[place:]])
        statuses = [status for status in STATUS.findall(wire.written) if status != b"100"]
        refusals = [status for status in statuses if status != b"200"]
        assert refusals in ([], statuses[-1:])
        assert statuses.count(b"200") == len(served.requests)
        assert wire.ended == (b"Connection: close" in wire.written)


@both_loops
@pytest.mark.parametrize("kind", KINDS)
async def test_on_a_real_socket_a_request_may_dribble_in(kind: str) -> None:
    sent = KINDS[kind]
    async with serving(hold) as served, connected(served.port) as client:
        await served.connected(1)
        client.expect(sent.method)
        for byte in sent.data:
            client.send(bytes([byte]))
        inbound = await served.request()
        assert (inbound.path, inbound.body) == (sent.path, sent.body)
        inbound.respond(200)
        assert (await client.over()).whole


async def test_a_trailer_is_neither_a_header_nor_a_framing() -> None:
    async with serving() as served, wired(served) as (connection, wire):
        data = KINDS["extensions and trailers"].data
        await feed(connection, wire, [data, data])
        for inbound in served.requests:
            assert [name for name, _ in inbound.headers] == [b"Host", b"Transfer-Encoding"]
            assert inbound.header(b"host") == b"a"
            assert inbound.header(b"x-sum") is None
