"""A demo Instance in this process, on a real socket, and ways to talk to it."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import httpx

from cacheroute.core.engine.profile import PROFILES
from cacheroute.demo.instance import Instance
from cacheroute.demo.options import InstanceOptions

OPTIONS = InstanceOptions(
    port=0,
    model="tiny",
    profile=replace(PROFILES["h100"], block_tokens=16),
    speed=200.0,
    max_model_tokens=8192,
    grace_s=0.0,
)

JSON = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A running Instance and a client of it."""

    instance: Instance
    http: httpx.AsyncClient

    async def post(self, path: str, body: object, **headers: str) -> httpx.Response:
        return await self.http.post(path, json=body, headers=headers)

    async def chat(self, text: str, **fields: Any) -> dict[str, Any]:
        """Return the body of a chat with one user message."""
        answer = await self.post("/v1/chat/completions", chat_body(text, **fields))
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    async def events(self, path: str, body: object) -> list[str]:
        """Return the data of every event of a stream."""
        answer = await self.post(path, body)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        return data_of(answer.text)


@contextlib.asynccontextmanager
async def live(**changes: Any) -> AsyncIterator[Live]:
    """Run an Instance for a while, with some options changed."""
    instance = Instance(replace(OPTIONS, **changes))
    await instance.open()
    url = f"http://127.0.0.1:{instance.port}"
    try:
        async with httpx.AsyncClient(base_url=url, timeout=20, trust_env=False) as http:
            yield Live(instance=instance, http=http)
    finally:
        await instance.close()


def chat_body(text: str, **fields: Any) -> dict[str, Any]:
    return {"model": "tiny", "messages": [{"role": "user", "content": text}], **fields}


def data_of(stream: str) -> list[str]:
    """Return what stands behind `data: ` in each event."""
    return [
        line.removeprefix("data: ")
        for event in stream.split("\n\n")
        for line in event.split("\n")
        if line.startswith("data: ")
    ]


def text_of(events: list[str]) -> str:
    """Return the text of chat chunks."""
    chunks = [json.loads(event) for event in events if event != "[DONE]"]
    return "".join(
        choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"]
    )


async def raw_until_end(port: int, path: str, body: object) -> tuple[bytes, bool]:
    """Send a request on a bare socket; return what came, and whether a reset ended it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    data = json.dumps(body).encode()
    writer.write(
        b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (path.encode(), len(data), data)
    )
    read = bytearray()
    try:
        while piece := await reader.read(65536):
            read += piece
    except ConnectionResetError:
        return bytes(read), True
    finally:
        writer.close()
        with contextlib.suppress(ConnectionResetError):
            await writer.wait_closed()
    return bytes(read), False
