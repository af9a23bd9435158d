"""Answers that take a while: one task each, which ends when its caller has gone.

Handlers are given a decoded body and return what is encoded; what they raise is rendered here.
"""

import asyncio
import sqlite3
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from cacheroute.dataplane.inbound import Inbound
from cacheroute.demo.kdn.refused import JSON_HEADERS, Refused

MAX_RUNNING = 2048
"""Most requests that are being answered; one more is a 503."""

Body = TypeVar("Body", bound=msgspec.Struct)
Answer = Callable[[bytes], Awaitable[object]]


def reading(kind: type[Body], handler: Callable[[Body], Awaitable[object]]) -> Answer:
    """Return an answer to a JSON body of this kind; an empty body is an empty object."""
    decoder = msgspec.json.Decoder(kind)

    async def answer(data: bytes) -> object:
        try:
            body = decoder.decode(data if data.strip() else b"{}")
        except (ValueError, RecursionError) as error:
            raise Refused(400, f"the body is not what this takes: {error}") from None
        return await handler(body)

    return answer


class Answering:
    """The answers that are being worked on."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def running(self) -> int:
        """How many there are."""
        return len(self._tasks)

    def begin(self, inbound: Inbound, answer: Answer) -> None:
        """Work on an answer until it is sent or its caller has gone."""
        if len(self._tasks) >= MAX_RUNNING:
            _refuse(inbound, Refused(503, f"{len(self._tasks)} requests are being answered"))
            return
        task = asyncio.create_task(_answer(inbound, answer))  # noqa: TID251 - held in the set
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

        def gone() -> None:
            task.cancel()

        inbound.on_gone = gone

    async def close(self) -> None:
        """End what is still being worked on."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _answer(inbound: Inbound, answer: Answer) -> None:
    try:
        body = msgspec.json.encode(await answer(inbound.body))
    except Refused as refused:
        _refuse(inbound, refused)
    except sqlite3.Error as error:
        _refuse(inbound, Refused(500, f"the database said: {error}"))
    except Exception:
        # What went wrong is for whoever runs this node, not for its callers.
        traceback.print_exc(file=sys.stderr)
        _refuse(inbound, Refused(500, "this node has a defect; its stderr tells more"))
    else:
        inbound.on_gone = None
        inbound.respond(200, JSON_HEADERS, body)


def _refuse(inbound: Inbound, refused: Refused) -> None:
    inbound.on_gone = None
    inbound.respond(refused.status, JSON_HEADERS, refused.body)
