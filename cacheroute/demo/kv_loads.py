"""What happens to a request before and after the engine when its KV may be outside.

Before: the blocks of its prompt that are not here are looked up, and those that are found take
their time to load. After: what was computed is written, if that is wanted. A store that fails
costs a request nothing but the wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

from cacheroute.core.engine.run import Sequence as Prompt
from cacheroute.demo.kv_store import KvStore, StoreFault
from cacheroute.demo.pace import Pacer

Loaded = Callable[[list[Prompt], float | None], None]
"""Takes the prompts, as they are to be submitted, and the model time to submit them at."""

_SHORTEST_NAP_S = 0.001


class KvLoads:
    """Everything between one engine and one store."""

    def __init__(self, store: KvStore, pacer: Pacer) -> None:
        self._store = store
        self._pacer = pacer
        self._tasks: set[asyncio.Task[None]] = set()
        self.saves = store.options.saves
        """Whether `save` is to be called when a prompt has been read."""
        self.loading = 0
        """Requests that wait for the store."""

    def load(self, prompts: list[Prompt], then: Loaded) -> Callable[[], object]:
        """Find out what is outside and load it, and call `then`, unless what is returned is called.

        Prompts that are here already come to `then` at once.
        """
        engine = self._pacer.engine
        block_tokens = engine.profile.block_tokens
        wanted: dict[tuple[int, ...], tuple[int, int]] = {}
        for prompt in prompts:
            most = (prompt.prompt_tokens - 1) // block_tokens
            here = engine.kv.match(prompt.keys, most)
            if here < most:
                wanted[prompt.keys[:most]] = (here, most)
        if not wanted:
            then(prompts, None)
            return _nothing
        return self._hold(self._load(prompts, wanted, then)).cancel

    def save(self, prompt: Prompt, then: Callable[[], None]) -> None:
        """Write the whole blocks of a prompt that has been computed, and call `then`."""
        blocks = prompt.prompt_tokens // self._pacer.engine.profile.block_tokens
        self._hold(self._save(prompt.keys[:blocks], then))

    async def close(self) -> None:
        """Drop what is under way; whoever waits hears nothing more."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _hold(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)  # noqa: TID251 - held here, ended by close()
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _load(
        self,
        prompts: list[Prompt],
        wanted: dict[tuple[int, ...], tuple[int, int]],
        then: Loaded,
    ) -> None:
        asked_at_s = self._pacer.now()
        self.loading += len(prompts)
        try:
            ranges, nominal_bytes = await self._look_up(wanted)
            due_s = asked_at_s
            if nominal_bytes:
                due_s += self._store.options.pull.seconds(nominal_bytes)
                await self._until(due_s)
        except StoreFault:
            ranges, due_s = {}, self._pacer.now()
        finally:
            self.loading -= len(prompts)
        then([self._as_loaded(prompt, ranges, asked_at_s) for prompt in prompts], due_s)

    async def _look_up(
        self, wanted: dict[tuple[int, ...], tuple[int, int]]
    ) -> tuple[dict[tuple[int, ...], range], int]:
        """Return the blocks that are outside, by the keys of a prompt, and their size in all."""
        ranges: dict[tuple[int, ...], range] = {}
        nominal_bytes = 0
        for keys, (here, most) in wanted.items():
            sizes = await self._store.found(keys[here:most])
            ranges[keys] = range(here, here + len(sizes))
            nominal_bytes += sum(sizes)
        return ranges, nominal_bytes

    def _as_loaded(
        self, prompt: Prompt, ranges: dict[tuple[int, ...], range], asked_at_s: float
    ) -> Prompt:
        most = (prompt.prompt_tokens - 1) // self._pacer.engine.profile.block_tokens
        return replace(prompt, loaded=ranges.get(prompt.keys[:most]), asked_at_s=asked_at_s)

    async def _until(self, model_s: float) -> None:
        """Sleep until a model time, however fast it goes and whether or not it stands still."""
        while (left_s := model_s - self._pacer.now()) > 0:  # noqa: ASYNC110 - time has no bell
            await asyncio.sleep(max(_SHORTEST_NAP_S, left_s / self._pacer.speed))

    async def _save(self, keys: Sequence[int], then: Callable[[], None]) -> None:
        try:
            await self._store.save(keys)
        except StoreFault:
            # It has said so itself, and nobody's answer depends on it.
            pass
        then()


def _nothing() -> None:
    """Take nothing back."""
