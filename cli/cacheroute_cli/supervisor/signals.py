"""The signals that ask this process to end, turned into one exception at one place.

The first one raises; once everything is being ended, further ones only count, and whoever
waits may take the hint.
"""

import signal
from collections.abc import Coroutine
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")

_ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """A signal asked this process to end; not an Exception, so that nothing swallows it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class Signals:
    """Watches SIGINT, SIGTERM and SIGHUP while it is entered; main thread only."""

    def __init__(self) -> None:
        self.ignored = 0
        """How many came after raising had been turned off."""
        self._raising = True
        self._previous: dict[int, Any] = {}

    def only_count(self) -> None:
        """Raise no more: what happens now is the ending itself."""
        self._raising = False

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end; a signal cancels it first and is raised after that.

        An exception out of a signal's handler would land in whichever task happens to run.
        """
        import asyncio

        came: list[int] = []

        async def watched() -> T:
            loop = asyncio.get_running_loop()
            this = asyncio.current_task()

            def on_signal(number: int) -> None:
                came.append(number)
                if this is not None:
                    this.cancel()

            for number in self._previous:
                loop.add_signal_handler(number, on_signal, number)
            return await coroutine

        try:
            with asyncio.Runner() as runner:
                return runner.run(watched())
        except asyncio.CancelledError:
            if not came:
                raise
            raise Stopped(came[0]) from None
        finally:
            # Leaving the loop has put the default handlers back.
            for number in self._previous:
                signal.signal(number, self._on_signal)

    def __enter__(self) -> Self:
        for number in _ASKING:
            # Who was started with a signal ignored (nohup) keeps ignoring it.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, previous in self._previous.items():
            signal.signal(number, previous)
        self._previous.clear()

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        if self._raising:
            self._raising = False
            raise Stopped(number)
        self.ignored += 1
