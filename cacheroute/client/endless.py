"""Answers without an end, piece by piece: a stream that lasts as long as its server."""

from collections.abc import AsyncIterator, Iterator

from cacheroute.client.ask import Ask
from cacheroute.client.asker import PROBLEMS, Asker
from cacheroute.client.lean_httpx import httpx


class EndlessReads(Asker):
    """For a client that asks and waits."""

    _http: httpx.Client

    def pieces(self, path: str) -> Iterator[bytes]:
        """GET an answer without an end, piece by piece; one may take as long as it takes."""
        ask = Ask(path=path, reply=bytes)
        try:
            with self._http.stream(**self._request(ask), **self._endless()) as response:
                if response.status_code != 200:
                    self._read(ask, response.status_code, bytearray(response.read()))
                yield from response.iter_raw()
        except PROBLEMS as problem:
            raise self._fault(ask, problem) from problem


class AsyncEndlessReads(Asker):
    """For a client that holds nobody up."""

    _http: httpx.AsyncClient

    async def pieces(self, path: str) -> AsyncIterator[bytes]:
        """GET an answer without an end, piece by piece; one may take as long as it takes."""
        ask = Ask(path=path, reply=bytes)
        try:
            async with self._http.stream(**self._request(ask), **self._endless()) as response:
                if response.status_code != 200:
                    self._read(ask, response.status_code, bytearray(await response.aread()))
                async for piece in response.aiter_raw():
                    yield piece
        except PROBLEMS as problem:
            raise self._fault(ask, problem) from problem
