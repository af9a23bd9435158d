import asyncio
import gc
import logging

import pytest

from cacheroute.runtime.tasks import Tasks


async def test_a_task_is_held_until_it_ends() -> None:
    tasks = Tasks()
    gate = asyncio.get_running_loop().create_future()

    async def wait() -> str:
        return str(await gate)

    task = tasks.start("waiter", wait())
    await asyncio.sleep(0)
    gc.collect()
    gate.set_result("done")
    assert await task == "done"
    assert task.get_name() == "waiter"
    await asyncio.sleep(0)
    assert not tasks._running


async def test_a_task_that_fails_is_heard(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise RuntimeError("boom")

    tasks = Tasks()
    task = tasks.start("reaper", fail())
    await asyncio.wait([task])
    await asyncio.sleep(0)
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage() == "task.failed name=reaper"
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "boom"


async def test_stopping_ends_all_and_waits_for_their_last_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    said: list[str] = []

    async def work(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            said.append(name)

    tasks = Tasks()
    for name in "abc":
        tasks.start(name, work(name))
    await asyncio.sleep(0)
    await tasks.stop()
    assert sorted(said) == ["a", "b", "c"]
    assert not caplog.records


async def test_one_that_fails_while_it_stops_holds_nobody_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise RuntimeError("at the end")

    tasks = Tasks()
    tasks.start("prober", work())
    await asyncio.sleep(0)
    await tasks.stop()
    await asyncio.sleep(0)
    assert [record.getMessage() for record in caplog.records] == ["task.failed name=prober"]


async def test_there_may_be_nothing_to_stop() -> None:
    await Tasks().stop()


async def test_what_has_to_last_begins_again_after_a_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    began: list[int] = []
    lasts = asyncio.Event()

    async def work() -> None:
        began.append(len(began))
        if len(began) < 3:
            raise RuntimeError("boom")
        lasts.set()
        await asyncio.Event().wait()

    tasks = Tasks(again_after_s=0.0)
    tasks.start_lasting("reaper", work)
    await lasts.wait()
    await tasks.stop()

    assert began == [0, 1, 2]
    told = [record.getMessage() for record in caplog.records]
    assert told == ["task.failed name=reaper again_in_s=0"] * 2


async def test_what_has_ended_well_does_not_begin_again() -> None:
    began: list[str] = []

    async def work() -> None:
        began.append("once")

    await Tasks().start_lasting("job", work)

    assert began == ["once"]
