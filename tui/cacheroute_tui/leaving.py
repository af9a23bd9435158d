"""How the console ends when nobody has pressed q: by a signal, or because its terminal is gone.

A terminal that is closed reads as an endless end of file, and where SIGHUP is ignored, as
under nohup, nothing else tells of it; so somebody has to look.
"""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_LAST_WORDS_S = 1.0


class Leaving:
    """Watches for reasons to end."""

    EVERY_S: ClassVar[float] = 1.0
    """How often the terminal is looked at."""
    PATIENCE_S: ClassVar[float] = 5.0
    """How long an end that a signal asked for may take."""

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
        # Restoring a terminal that is gone may wait for it for ever.
        _after(_LAST_WORDS_S, os._exit, 128 + signal.SIGHUP)
        self._end(128 + signal.SIGHUP, return_code=128 + signal.SIGHUP)

    def _stopped(self, number: signal.Signals) -> None:
        # Whoever ends it does not look whether something in here is stuck.
        _after(self.PATIENCE_S, self._give_up, 128 + number)
        self._end(128 + number, return_code=128 + number)

    def _give_up(self, code: int) -> None:
        with suppress(Exception):
            self._restore()
        os._exit(code)


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
