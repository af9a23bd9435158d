import asyncio
import heapq
from collections.abc import Awaitable

import pytest

from cacheroute.demo.kdn.link import MAX_WAITING, Link, LinkRules, Passage
from cacheroute.demo.kdn.refused import Refused

GIGABIT = LinkRules(bandwidth_mbps=1000, delay_ms=2, efficiency=0.8)


class Clock:
    """A time that passes only when everybody sleeps."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        wake = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now_s + seconds, len(self._sleepers), wake))
        await wake

    async def pass_until(self, *awaited: Awaitable[object]) -> None:
        """Let time pass until all of this is done."""
        everything = asyncio.gather(*awaited)
        while not everything.done():
            for _ in range(10):
                await asyncio.sleep(0)
            if self._sleepers and not everything.done():
                self.now_s, _, wake = heapq.heappop(self._sleepers)
                if not wake.done():
                    wake.set_result(None)
        await everything


def make(rules: LinkRules = GIGABIT) -> tuple[Link, Clock]:
    clock = Clock()
    return Link(rules, now_s=clock.now, sleep=clock.sleep), clock


def rounded(passage: Passage) -> tuple[float, float]:
    return round(passage.queue_ms, 6), round(passage.transfer_ms, 6)


def test_a_transfer_takes_the_delay_and_its_bits_at_the_share_of_the_bandwidth() -> None:
    # 100 MB are 800 Mbit, at 1000 * 0.8 Mbit/s.
    assert GIGABIT.transfer_s(100_000_000) == pytest.approx(1.002)


def test_speed_divides_all_of_it() -> None:
    fast = LinkRules(bandwidth_mbps=1000, delay_ms=2, efficiency=0.8, speed=10)

    assert fast.transfer_s(100_000_000) == pytest.approx(0.1002)
    assert fast.delay_s == pytest.approx(0.0002)


def test_without_a_bandwidth_nothing_takes_time() -> None:
    none = LinkRules(delay_ms=2)

    assert (none.delay_s, none.transfer_s(10**12)) == (0, 0)


async def test_transfers_go_one_after_the_other_in_the_order_they_came() -> None:
    link, clock = make()
    transfers = [asyncio.ensure_future(link.transfer(size)) for size in (100_000_000, 0, 0)]

    await clock.pass_until(*transfers)

    assert [rounded(t.result()) for t in transfers] == [(0, 1002), (1002, 2), (1004, 2)]


async def test_a_message_waits_for_no_transfer() -> None:
    link, clock = make()
    transfer = asyncio.ensure_future(link.transfer(10**12))
    await asyncio.sleep(0)

    await clock.pass_until(link.message())

    assert clock.now_s == pytest.approx(0.002)
    assert link.is_busy
    assert not transfer.done()
    transfer.cancel()


async def test_a_transfer_whose_caller_has_gone_frees_the_link() -> None:
    link, clock = make()
    gone, waiting_gone, last = (
        asyncio.ensure_future(link.transfer(size)) for size in (10**12, 10**12, 0)
    )
    await asyncio.sleep(0)
    assert (link.is_busy, link.waiting) == (True, 2)

    waiting_gone.cancel()
    gone.cancel()
    await clock.pass_until(last)

    assert rounded(last.result()) == (0, 2)
    assert (link.is_busy, link.waiting) == (False, 0)


async def test_a_full_queue_is_said_and_not_waited_for() -> None:
    link, _ = make()
    transfers = [asyncio.ensure_future(link.transfer(10**9)) for _ in range(MAX_WAITING + 1)]
    await asyncio.sleep(0)

    with pytest.raises(Refused) as refused:
        await link.transfer(1)

    assert refused.value.status == 503
    for transfer in transfers:
        transfer.cancel()


async def test_a_change_is_for_transfers_that_have_not_begun() -> None:
    link, clock = make()
    transfers = [asyncio.ensure_future(link.transfer(100_000_000)) for _ in range(2)]
    await asyncio.sleep(0)

    link.change(bandwidth_mbps=10_000)
    await clock.pass_until(*transfers)

    assert [rounded(t.result()) for t in transfers] == [(0, 1002), (1002, 102)]


async def test_a_simulation_can_be_ended_and_takes_no_delay_then() -> None:
    link, _ = make()

    link.change(bandwidth_mbps=None)

    assert not link.is_simulated
    assert await link.transfer(10**12) == Passage(queue_ms=0, transfer_ms=0)
    with pytest.raises(Refused, match="there is no link"):
        link.change(delay_ms=5)
