"""What is put off comes at the end of the turn: all of it, in order, and once."""

import asyncio
from typing import Any

from cacheroute.dataplane.turn_end import TurnEnd


async def ended() -> None:
    """Let the turn end."""
    await asyncio.sleep(0)


async def test_what_is_put_off_comes_after_the_turn_in_the_order_of_asking() -> None:
    made: list[int] = []
    turn_end = TurnEnd(asyncio.get_running_loop())
    for number in range(3):
        turn_end.call(lambda number=number: made.append(number))  # type: ignore[misc]
    assert made == []
    await ended()
    assert made == [0, 1, 2]
    await ended()
    assert made == [0, 1, 2]


async def test_what_is_put_off_at_the_end_of_a_turn_comes_with_the_next_one() -> None:
    made: list[str] = []
    turn_end = TurnEnd(asyncio.get_running_loop())

    def first() -> None:
        made.append("first")
        turn_end.call(lambda: made.append("second"))

    turn_end.call(first)
    await ended()
    assert made == ["first"]
    await ended()
    assert made == ["first", "second"]


async def test_one_that_fails_does_not_cost_the_others_theirs() -> None:
    faults: list[dict[str, Any]] = []
    made: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: faults.append(context))
    turn_end = TurnEnd(loop)

    def broken() -> None:
        raise ValueError("no")

    turn_end.call(broken)
    turn_end.call(lambda: made.append("after"))
    await ended()
    assert made == ["after"]
    (fault,) = faults
    assert isinstance(fault["exception"], ValueError)
    assert "end of a turn" in fault["message"]
