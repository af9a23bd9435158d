"""The pacer on a real loop, much faster than life; only order and model time are looked at."""

import asyncio

from cacheroute.core.engine.engine import Engine, Token
from cacheroute.core.engine.profile import PROFILES
from cacheroute.core.engine.run import Sequence
from cacheroute.demo.pace import Pacer


class Ear:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.flushed = 0
        self.done = asyncio.Event()

    def on_token(self, token: Token) -> None:
        self.tokens.append(token)

    def flush(self) -> None:
        self.flushed += 1
        if self.tokens[-1].finished:
            self.done.set()


def ask(name: str, output: int) -> Sequence:
    return Sequence(id=name, prompt_tokens=100, output_tokens=output)


async def test_tokens_come_in_order_and_in_model_time() -> None:
    pacer, ear = Pacer(Engine(PROFILES["h100"]), speed=1000.0), Ear()
    run = pacer.submit(ask("a", 20), ear)
    async with asyncio.timeout(10):
        await ear.done.wait()
    alone = Engine(PROFILES["h100"])
    alone.submit(ask("a", 20), run.submitted_at_s)
    assert [(t.number, t.at_s) for t in ear.tokens] == [(t.number, t.at_s) for t in alone.step(1e9)]
    assert 1 <= ear.flushed <= 20


async def test_a_request_that_was_ready_earlier_loses_no_model_time() -> None:
    pacer, ear = Pacer(Engine(PROFILES["h100"]), speed=1000.0), Ear()
    await asyncio.sleep(0.01)
    run = pacer.submit(ask("a", 1), ear, at_s=0.5)
    assert (run.submitted_at_s, run.scheduled_at_s) == (0.5, 0.5)
    async with asyncio.timeout(10):
        await ear.done.wait()
    assert ear.tokens[0].at_s < 1.0


async def test_a_request_is_never_ready_in_the_future() -> None:
    pacer, ear = Pacer(Engine(PROFILES["h100"]), speed=0.01), Ear()
    run = pacer.submit(ask("a", 1), ear, at_s=1e6)
    assert run.submitted_at_s <= pacer.now()


async def test_an_aborted_request_is_not_heard_of_again() -> None:
    pacer, gone, stays = Pacer(Engine(PROFILES["h100"]), speed=1000.0), Ear(), Ear()
    pacer.submit(ask("gone", 50), gone)
    pacer.submit(ask("stays", 50), stays)
    pacer.abort("gone")
    pacer.abort("gone")
    pacer.abort("unheard-of")
    async with asyncio.timeout(10):
        await stays.done.wait()
    assert gone.tokens == []
    assert pacer.engine.totals.aborted == 1


async def test_frozen_time_stands_still_and_goes_on_where_it_stopped() -> None:
    pacer, ear = Pacer(Engine(PROFILES["h100"]), speed=1000.0), Ear()
    pacer.freeze()
    frozen_at = pacer.now()
    pacer.submit(ask("a", 3), ear)
    for _ in range(20):
        await asyncio.sleep(0)
    assert pacer.frozen
    assert (ear.tokens, pacer.now()) == ([], frozen_at)
    pacer.thaw()
    async with asyncio.timeout(10):
        await ear.done.wait()
    assert len(ear.tokens) == 3


async def test_another_speed_does_not_make_time_jump() -> None:
    pacer = Pacer(Engine(PROFILES["h100"]), speed=0.01)
    before = pacer.now()
    pacer.set_speed(0.02)
    assert before <= pacer.now() < before + 1.0
    assert pacer.speed == 0.02


async def test_a_stopped_pacer_says_nothing_more() -> None:
    pacer, ear = Pacer(Engine(PROFILES["h100"]), speed=1000.0), Ear()
    pacer.submit(ask("a", 3), ear)
    pacer.stop()
    for _ in range(20):
        await asyncio.sleep(0)
    assert ear.tokens == []


async def test_model_time_never_goes_back() -> None:
    pacer = Pacer(Engine(PROFILES["h100"]), speed=100.0)
    seen = [pacer.now()]
    for change in (
        pacer.freeze,
        pacer.thaw,
        lambda: pacer.set_speed(3.0),
        pacer.freeze,
        pacer.thaw,
    ):
        change()
        seen.append(pacer.now())
    assert seen == sorted(seen)
