"""Runs one coroutine by hand, so that a request reads as a story and costs no task.

A coroutine that waits on a `Signal` is resumed within the call that raises the signal: in
the same turn of the event loop, inside the protocol callback that brought the bytes. A
task would need a turn of its own for its start and one more for each wait.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator


class Signal:
    """Something that one coroutine waits for, over and over."""

    __slots__ = ("_raised", "_waiting")

    def __init__(self) -> None:
        self._raised = False
        self._waiting: Turns | None = None

    def notify(self) -> None:
        """Let the waiting coroutine go on now, or the next wait return at once."""
        waiting = self._waiting
        if waiting is None:
            self._raised = True
        else:
            self._waiting = None
            waiting.resume()

    def __await__(self) -> Generator[Signal, None, None]:
        if self._raised:
            self._raised = False
        else:
            yield self


class Turns:
    """A coroutine on its way, from wait to wait."""

    __slots__ = ("_coroutine", "_interruption", "_on_crash", "_running", "_signal", "done")

    def __init__(
        self,
        coroutine: Coroutine[Signal, None, None],
        on_crash: Callable[[BaseException], None],
    ) -> None:
        self._coroutine = coroutine
        self._on_crash = on_crash
        self._signal: Signal | None = None
        self._interruption: BaseException | None = None
        self._running = False
        self.done = False
        """Whether the coroutine has ended."""

    def resume(self) -> None:
        """Run the coroutine to its next wait, or to its end."""
        self._signal = None
        self._running = True
        interruption, self._interruption = self._interruption, None
        try:
            if interruption is None:
                signal = self._coroutine.send(None)
            else:
                signal = self._coroutine.throw(interruption)
        except StopIteration:
            self.done = True
        except BaseException as error:  # the loop's callback must not see it
            self.done = True
            self._on_crash(error)
        else:
            self._running = False
            signal._waiting = self  # noqa: SLF001  these two are halves of one thing
            self._signal = signal
            if self._interruption is not None:
                signal._waiting = None  # noqa: SLF001
                self.resume()

    def interrupt(self, reason: BaseException) -> None:
        """Raise `reason` in the coroutine, where it waits."""
        if self.done:
            return
        self._interruption = reason
        if not self._running:
            signal = self._signal
            if signal is not None:
                signal._waiting = None  # noqa: SLF001
            self.resume()
