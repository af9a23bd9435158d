"""A timer that keeps time to the microsecond.

uvloop rounds to whole milliseconds, which would send the events of many streams in step
and flatter whoever relays them: several events are cheaper in one turn than one by one.
"""

import asyncio
import ctypes
import os
import time
from collections.abc import Callable

_CLOCK_MONOTONIC = 1
_TFD_NONBLOCK = os.O_NONBLOCK
_TFD_TIMER_ABSTIME = 1


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Setting(ctypes.Structure):
    _fields_ = (("interval", _Timespec), ("due", _Timespec))


class Timer:
    """Calls back at a moment of `time.monotonic_ns`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._set = libc.timerfd_settime
        self._setting = _Setting()
        self._reference = ctypes.byref(self._setting)
        self._callback = callback
        self._descriptor = libc.timerfd_create(_CLOCK_MONOTONIC, _TFD_NONBLOCK)
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create failed")
        loop.add_reader(self._descriptor, self._fire)

    def at(self, due_ns: int) -> None:
        """Call back at this moment, or at once if it has passed; replaces an earlier call."""
        due = self._setting.due
        due.seconds, due.nanoseconds = divmod(max(1, due_ns), 1_000_000_000)
        self._set(self._descriptor, _TFD_TIMER_ABSTIME, self._reference, None)

    def _fire(self) -> None:
        try:
            os.read(self._descriptor, 8)
        except BlockingIOError:
            return
        self._callback()


now_ns = time.monotonic_ns
