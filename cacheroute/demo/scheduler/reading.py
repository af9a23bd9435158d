"""Reads the texts of the knowledge nodes, at start and then again and again.

A node lists its ids, and is asked for the texts that are new: an id is a text's digest, so what
it stands for never changes. A node that does not answer is asked more often at first, and what
was read of it before stays in use; the Proxy looks every text up there once more.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from cacheroute.core.errors import UpstreamError, UpstreamProtocolError
from cacheroute.demo.scheduler.knowledge import Library, Shelf
from cacheroute.demo.scheduler.peer_json import TooMuch, post_json
from cacheroute.member.log import StateLog
from cacheroute.wire import paths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cacheroute.dataplane.pool import UpstreamPool
    from cacheroute.formats.address import Address

MAX_TEXTS = 10_000
MAX_TEXT_CHARS = 64 * 1024 * 1024
"""Of one node together; further texts are not looked at."""
_IDS_PAGE = 1000
_TEXTS_PAGE = 64
_ANSWER_S = 10.0
_BACKOFF_S = (0.2, 0.5, 1.0, 2.0, 5.0)
"""Pauses after failures; the last one repeats."""


class Reading:
    """Keeps what the Library knows of one node up to date."""

    def __init__(
        self, pool: UpstreamPool, address: Address, library: Library, refresh_s: float
    ) -> None:
        self._pool = pool
        self._address = address
        self._library = library
        self._refresh_s = refresh_s
        self._log = StateLog(f"kdn {address.authority}")
        self._texts: Mapping[str, str] | None = None
        self.tried = asyncio.Event()
        """Set once the first reading has ended, well or not."""

    async def run(self) -> None:
        """Read until cancelled."""
        failures = 0
        while True:
            try:
                await self._read()
            except UpstreamError as error:
                self._log.say("failed", f"{error.message} Trying on.")
                pause_s = min(self._refresh_s, _BACKOFF_S[min(failures, len(_BACKOFF_S) - 1)])
                failures += 1
            else:
                pause_s, failures = self._refresh_s, 0
            self.tried.set()
            await asyncio.sleep(pause_s)

    async def _read(self) -> None:
        ids = await read_ids(self._pool, self._address)
        texts = await read_texts(self._pool, self._address, ids, self._texts or {})
        if texts != self._texts:
            # Counting words of megabytes would hold up every request that is on its way.
            shelf = await asyncio.to_thread(Shelf.of, texts)
            self._library.put(self._address, shelf)
            self._texts = texts
        self._log.say("read", f"texts read: {len(texts)}")


async def read_ids(pool: UpstreamPool, address: Address) -> list[str]:
    """Return the lower-case ids of a node's texts; raises UpstreamError."""
    ids: dict[str, None] = {}
    offset = 0
    while len(ids) < MAX_TEXTS:
        asked = {"need_fields": ["kid"], "limit": _IDS_PAGE, "offset": offset}
        items = await _items(pool, address, paths.KNOWLEDGE_SNAPSHOT, asked)
        known = len(ids)
        ids.update((text_id, None) for item in items if (text_id := _id(item)))
        offset += len(items)
        # A node that knows no offset says the same again, and one with fewer has said all.
        if len(items) < _IDS_PAGE or len(ids) == known:
            break
    return list(ids)[:MAX_TEXTS]


async def read_texts(
    pool: UpstreamPool, address: Address, ids: Sequence[str], known: Mapping[str, str]
) -> dict[str, str]:
    """Return the texts of these ids, as far as the node has them; raises UpstreamError."""
    texts = {text_id: known[text_id] for text_id in ids if text_id in known}
    new = [text_id for text_id in ids if text_id not in known]
    size = sum(map(len, texts.values()))
    page = _TEXTS_PAGE
    while new and size < MAX_TEXT_CHARS:
        asked = {"knowledge_ids": new[:page], "need_fields": ["content"]}
        try:
            items = await _items(pool, address, paths.KNOWLEDGE_SEARCH_TEXT, asked)
        except TooMuch:
            if page == 1:
                raise
            page //= 2  # long texts: fewer of them fit into one answer
            continue
        for item in items:
            text_id, content = _id(item), item.get("content")
            if text_id and isinstance(content, str):
                texts[text_id] = content
                size += len(content)
        del new[:page]
    return texts


async def _items(
    pool: UpstreamPool, address: Address, path: str, asked: Mapping[str, object]
) -> list[dict[str, object]]:
    items = (await post_json(pool, address, path, asked, within_s=_ANSWER_S)).get("items")
    if not isinstance(items, list):
        why = f"{address.authority} answered {path} without a list of items."
        raise UpstreamProtocolError(why, peer=address.authority)
    return [item for item in items if isinstance(item, dict)]


def _id(item: Mapping[str, object]) -> str | None:
    text_id = item.get("kid") or item.get("id")
    return text_id.strip().lower() if isinstance(text_id, str) else None
