import asyncio
import contextlib
from collections.abc import AsyncIterator

import httpx
import msgspec
import pytest

from cacheroute.dataplane.server import HttpServer
from cacheroute.demo.kdn import answering as room
from cacheroute.demo.kdn.answering import Answer, Answering, reading
from cacheroute.demo.kdn.refused import Refused
from tests.support.waiting import eventually


class Body(msgspec.Struct):
    number: int = 7


@contextlib.asynccontextmanager
async def served(answer: Answer) -> AsyncIterator[tuple[Answering, httpx.AsyncClient]]:
    answering = Answering()
    server = HttpServer(lambda inbound: answering.begin(inbound, answer))
    await server.start()
    url = f"http://127.0.0.1:{server.port}"
    try:
        async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
            yield answering, http
    finally:
        await server.stop()
        await answering.close()


async def echo(body: Body) -> object:
    return {"number": body.number}


async def test_a_body_is_read_and_what_is_returned_is_sent() -> None:
    async with served(reading(Body, echo)) as (_, http):
        assert (await http.post("/", content=b'{"number": 3}')).json() == {"number": 3}
        assert (await http.post("/")).json() == {"number": 7}


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b'{"number": "3"}', b'{"number": NaN}', b"\xff", b"[" * 100_000]
)
async def test_what_is_no_such_body_is_a_400_with_the_reason(data: bytes) -> None:
    async with served(reading(Body, echo)) as (_, http):
        answer = await http.post("/", content=data)

    assert answer.status_code == 400
    assert answer.json()["error"].startswith("the body is not what this takes: ")


async def test_a_defect_is_told_to_whoever_runs_it_and_not_to_callers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def fail(_: bytes) -> object:
        raise RuntimeError("inner matter")

    async with served(fail) as (_, http):
        answer = await http.post("/")

    assert answer.status_code == 500
    assert "inner matter" not in answer.text
    assert "inner matter" in capsys.readouterr().err


async def test_a_refusal_is_sent_as_it_is() -> None:
    async def refuse(_: bytes) -> object:
        raise Refused(418, "no")

    async with served(refuse) as (_, http):
        answer = await http.post("/")

    assert (answer.status_code, answer.json()["error"]) == (418, "no")


async def test_work_ends_when_its_caller_has_gone() -> None:
    ended: list[str] = []

    async def wait(_: bytes) -> object:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")
        return None

    async with served(wait) as (answering, http):
        asking = asyncio.ensure_future(http.post("/"))
        await eventually(lambda: answering.running)
        asking.cancel()
        await eventually(lambda: not answering.running)

    assert ended == ["ended"]


async def test_no_more_work_than_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_RUNNING", 1)
    go_on = asyncio.Event()

    async def wait(_: bytes) -> object:
        await go_on.wait()
        return {}

    async with served(wait) as (answering, http):
        asking = asyncio.ensure_future(http.post("/"))
        await eventually(lambda: answering.running)
        assert (await http.post("/")).status_code == 503
        go_on.set()
        assert (await asking).status_code == 200
