"""The clock of the console is the two clocks of its host."""

import time

import pytest

from cacheroute_tui.clock import SystemClock


def test_a_moment_has_the_time_of_each_clock_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(time, "monotonic", lambda: 12.5)
        patched.setattr(time, "time", lambda: 1_764_512_581.0)
        now = SystemClock().now()

    assert (now.mono_s, now.wall_s) == (12.5, 1_764_512_581.0)


def test_the_monotonic_clock_never_goes_back() -> None:
    clock = SystemClock()
    moments = [clock.now().mono_s for _ in range(100)]

    assert moments == sorted(moments)
