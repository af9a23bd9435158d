"""Log lines that strangers can cause, a few a minute and no more.

What is left out is counted and told with the next line, so nothing happens in silence.
"""

import logging
from collections.abc import Callable

_WINDOW_S = 60.0
_LINES = 20


class SparingLog:
    """Lets the first lines of every minute through."""

    def __init__(self, log: logging.Logger, mono_s: Callable[[], float]) -> None:
        self._log = log
        self._mono_s = mono_s
        self._began_mono_s = mono_s()
        self._said = 0
        self._left_out = 0

    def warning(self, message: str, *values: object) -> None:
        """Log a line, unless enough has been said this minute."""
        now_mono_s = self._mono_s()
        if now_mono_s - self._began_mono_s >= _WINDOW_S:
            if self._left_out:
                self._log.warning("log.left_out lines=%d", self._left_out)
            self._began_mono_s = now_mono_s
            self._said = self._left_out = 0
        if self._said < _LINES:
            self._said += 1
            self._log.warning(message, *values)
        else:
            self._left_out += 1
