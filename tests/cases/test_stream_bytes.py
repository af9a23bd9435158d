"""C001, C002: an event stream's bytes are the backend's, whatever its line ends and cuts."""

import itertools

import pytest

from tests.support.backend import scripted
from tests.support.client import connected, post
from tests.support.openai_shapes import CHAT, DONE, STOP, chat, token, tokens
from tests.support.proxy import running_proxy
from tests.support.script import END, SSE, Close, Gate, Script, Write, chunk, head, stream_head

CJK = 'data: {"choices":[{"delta":{"content":"漢字 🚀 é"}}]}'.encode()
ENDS = {"LF": b"\n", "CRLF": b"\r\n", "CR": b"\r"}


def framed(framing: str, pieces: list[bytes]) -> Script:
    """Say these pieces as an event stream, each in a write of its own."""
    match framing:
        case "chunked":
            return (stream_head(), *map(chunk, pieces), END)
        case "length":
            lines = [("Content-Type", SSE), ("Content-Length", str(sum(map(len, pieces))))]
            return (Write(head(200, lines)), *map(Write, pieces))
        case _:
            lines = [("Content-Type", SSE), ("Connection", "close")]
            return (Write(head(200, lines)), *map(Write, pieces), Close())


@pytest.mark.parametrize("framing", ["chunked", "length", "eof"])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
async def test_c001_every_line_end_and_framing_arrives_byte_for_byte(
    end: bytes, framing: str
) -> None:
    pieces = [CJK + end + end, b": note" + end + end, CJK + end + end, b"data: [DONE]" + end + end]
    async with scripted(framed(framing, pieces)) as backend, running_proxy(backend.url) as proxy:
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.whole
        assert answer.body == b"".join(pieces)
        await proxy.idle()


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
async def test_c001_a_stream_of_single_bytes_arrives_whole(end: bytes) -> None:
    said = CJK + end + end + CJK + end + end + b"data: [DONE]" + end + end
    singles = [said[n : n + 1] for n in range(len(said))]
    async with (
        scripted(framed("chunked", singles)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.body == said
        assert "\ufffd" not in answer.body.decode()


@pytest.mark.parametrize("which", ["first", "later"])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
async def test_c001_half_a_character_travels_before_its_other_half_is_written(
    which: str, end: bytes
) -> None:
    event = CJK + end + end
    cut = event.index("字".encode()) + 1
    before = [token("first")] if which == "later" else []
    gate = Gate()
    script: Script = (
        stream_head(), *map(chunk, before), chunk(event[:cut]),
        gate, chunk(event[cut:]), chunk(DONE), END,
    )  # fmt: skip
    async with scripted(script) as backend, running_proxy(backend.url) as proxy:
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat(stream=True))
            seen = b"".join(before) + event[:cut]
            assert await client.body_of(len(seen), within_s=2) == seen
            gate.open()
            answer = await client.over()
        assert answer.body == b"".join(before) + event + DONE


@pytest.mark.parametrize(
    "odd",
    [
        b"\xef\xbb\xbf" + token("after a byte order mark"),
        b"data: \xff\xfe not UTF-8\n\n",
        b"data: nul \x00 byte\n\n",
        b"data: \xed\xa0\xbd lone surrogate\n\n",
        b"\n\n\n" + token("after blank lines"),
        b"data\n\n" + token("after a line without a colon"),
        b"data: a\r\r" + b"data: b\n\n" + b"data: c\r\n\r\n",
        b"data:" + b" " * 4096 + b"{}\n\n",
    ],
    ids=["bom", "not utf-8", "nul", "surrogate", "blank", "no colon", "mixed ends", "blanks"],
)
async def test_c001_odd_bytes_are_not_repaired(odd: bytes) -> None:
    async with (
        scripted((stream_head(), chunk(odd), chunk(DONE), END)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.whole
        assert answer.body == odd + DONE


FOUR_EVENTS = (
    [b'data: {"choices":[]}\r', b"\n\r\n"],
    [b'data:{"choices":[]}\n\n'],
    [b'data: {"choices":[],\ndata: "usage":{"prompt_tokens":1}}\n\n'],
    [b'data: {"choices":[]}\r\r'],
)
"""As C002 has them: a CRLF cut in two, no blank after the colon, JSON on two lines, bare CR."""


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::5])
async def test_c002_lines_cut_between_reads_stay_as_they_are(order: tuple[int, ...]) -> None:
    pieces = [piece for index in order for piece in FOUR_EVENTS[index]]
    async with (
        scripted(framed("chunked", [*pieces, DONE])) as backend,
        running_proxy(backend.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.body == b"".join(pieces) + DONE


@pytest.mark.parametrize(
    "first",
    [
        b'data: {"a":1}\r\r',
        b'data:{"a":1}\r\n\r\n',
        b'data: {"a":1}\n\n',
        b'data: {"a":\ndata:1}\n\r',
    ],
    ids=["bare CR", "CRLF without a blank", "LF", "JSON on two lines"],
)
async def test_c002_no_event_waits_for_a_line_feed_that_never_comes(first: bytes) -> None:
    gate = Gate()
    script: Script = (stream_head(), chunk(first), gate, *map(chunk, [*tokens(2), STOP, DONE]), END)
    async with (
        scripted(script) as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        client.ask("POST", CHAT, body=chat(stream=True))
        assert await client.body_of(len(first), within_s=2) == first
        gate.open()
        assert (await client.over()).whole


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
async def test_c002_usage_on_two_lines_is_counted_once(end: bytes) -> None:
    usage = b'data: {"choices":[],' + end + b'data: "usage":{"prompt_tokens":11,' + end
    usage += b'data:"completion_tokens":22}}' + end + end
    async with (
        scripted(framed("chunked", [token("a"), usage[:40], usage[40:], DONE])) as backend,
        running_proxy(backend.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.body == token("a") + usage + DONE
        counted = await proxy.samples("tokens", "kind")
        assert (counted["prompt"], counted["completion"]) == (11, 22)
