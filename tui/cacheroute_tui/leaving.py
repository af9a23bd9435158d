"""How the console ends when nobody has pressed q: by a signal, or because its terminal is gone.

A terminal that is closed reads as an endless end of file, and where SIGHUP is ignored, as
under nohup, nothing else tells of it; so somebody has to look.
"""

import asyncio
import os
import signal
import sys
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_LAST_WORDS_S = 1.0
_AS_BEFORE = (
    b"\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"  # the mouse is the terminal's
    b"\x1b[?2004l\x1b[?1004l\x1b[<u"  # no marks around what is pasted, no focus, usual keys
    b"\x1b[?7h\x1b[?1049l\x1b[?25h"  # long lines wrap, the first screen, and a cursor
)


class Leaving:
    """Watches for reasons to end."""

    EVERY_S: ClassVar[float] = 1.0
    """How often the terminal is looked at."""
    PATIENCE_S: ClassVar[float] = 5.0
    """How long an end may take, from whatever asked for it."""

    def __init__(self, end: Callable[..., None], restore: Callable[[], None]) -> None:
        self._end = end
        self._restore = restore
        self._watched: list[signal.Signals] = []

    def watch(self) -> None:
        """End on signals from now on; one that is ignored stays so, as nohup wants."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            if signal.getsignal(number) is signal.SIG_IGN:
                continue
            loop.add_signal_handler(number, self._stopped, number)
            self._watched.append(number)

    def leave(self) -> None:
        """Watch no more."""
        loop = asyncio.get_running_loop()
        for number in self._watched:
            loop.remove_signal_handler(number)
        self._watched.clear()

    def look(self) -> None:
        """End when the terminal is gone."""
        if is_terminal_there():
            return
        _after(_LAST_WORDS_S, os._exit, 128 + signal.SIGHUP)
        self._end(128 + signal.SIGHUP, return_code=128 + signal.SIGHUP)

    def expect_end(self, code: int) -> None:
        """End the hard way if it has not come to an end in time.

        The toolkit's queue to its writing thread has been seen to be stuck at the very end.
        """
        _after(self.PATIENCE_S, self._give_up, code)

    def _stopped(self, number: signal.Signals) -> None:
        self.expect_end(128 + number)
        self._end(128 + number, return_code=128 + number)

    def _give_up(self, code: int) -> None:
        # A terminal that is gone may keep whoever restores it for ever.
        _after(_LAST_WORDS_S, os._exit, code)
        with suppress(Exception):
            self._restore()
        os._exit(code)


def restoring(driver: object) -> Callable[[], None]:
    """Return what gives the terminal back without the help of the driver's thread."""
    fd = getattr(driver, "fileno", None)
    attributes = getattr(driver, "attrs_before", None)

    def restore() -> None:
        if not isinstance(fd, int) or attributes is None:
            return
        termios.tcsetattr(fd, termios.TCSANOW, attributes)
        os.write(fd, _AS_BEFORE)

    return restore


def _after(delay_s: float, do: Callable[[int], object], code: int) -> None:
    # A thread, since the loop may be what is stuck; a daemon, since most ends need no help.
    timer = threading.Timer(delay_s, do, (code,))
    timer.daemon = True
    timer.start()


def is_terminal_there() -> bool:
    """Whether what is read from and drawn on is a terminal still."""
    try:
        return os.isatty(sys.__stdin__.fileno()) if sys.__stdin__ is not None else False
    except (OSError, ValueError):
        return False
