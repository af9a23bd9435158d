import time

from cacheroute.runtime.clock import SystemClock


def test_both_clocks_are_those_of_the_machine() -> None:
    before = time.monotonic(), time.time()
    now = SystemClock().now()
    after = time.monotonic(), time.time()
    assert before[0] <= now.mono_s <= after[0]
    assert before[1] <= now.wall_s <= after[1]
