"""Answers piece by piece: as they come until their end, or as long as their server lasts."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from cacheroute.client.ask import Ask
from cacheroute.client.asker import LIBRARY, Answer, Asker, lean_httpx, problems

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")


class EndlessReads(Asker):
    """For a client that asks and waits."""

    @cached_property
    def _http(self) -> httpx.Client:
        return lean_httpx.httpx.Client(**self._options())

    def pieces(self, path: str) -> Iterator[bytes]:
        """GET an answer without an end, piece by piece; one that is silent too long is given up."""
        ask = Ask(path=path, reply=bytes)
        try:
            with self._http.stream(**self._request(ask), **self._endless()) as response:
                if response.status_code != 200:
                    self._read(ask, self._whole(ask, response))
                yield from response.iter_raw()
        except problems() as problem:
            raise self._fault(ask, problem, timeout_s=self.max_silence_s) from problem

    def _whole(self, ask: Ask[T], response: httpx.Response) -> Answer:
        read, deadline_s = bytearray(), self._deadline_s()
        for data in response.iter_raw():
            self._grown(ask, read, data, deadline_s)
        return _answer(response, read)


class AsyncEndlessReads(Asker):
    """For a client that holds nobody up."""

    @cached_property
    def _http(self) -> httpx.AsyncClient:
        return lean_httpx.httpx.AsyncClient(**self._options())

    async def _opened(self) -> httpx.AsyncClient:
        if LIBRARY not in sys.modules:
            # Loading it would hold up a screen for a tenth of a second.
            await asyncio.to_thread(import_module, LIBRARY)
        return self._http

    async def pieces(self, path: str) -> AsyncIterator[bytes]:
        """GET an answer without an end, piece by piece; one that is silent too long is given up."""
        ask, http = Ask(path=path, reply=bytes), await self._opened()
        try:
            async with http.stream(**self._request(ask), **self._endless()) as response:
                if response.status_code != 200:
                    self._read(ask, await self._whole(ask, response))
                async for piece in response.aiter_raw():
                    yield piece
        except problems() as problem:
            raise self._fault(ask, problem, timeout_s=self.max_silence_s) from problem

    async def _whole(self, ask: Ask[T], response: httpx.Response) -> Answer:
        read, deadline_s = bytearray(), self._deadline_s()
        async for data in response.aiter_raw():
            self._grown(ask, read, data, deadline_s)
        return _answer(response, read)


def _answer(response: httpx.Response, read: bytearray) -> Answer:
    moved_to = response.headers.get("location") if response.is_redirect else None
    return Answer(status=response.status_code, moved_to=moved_to, body=bytes(read))
