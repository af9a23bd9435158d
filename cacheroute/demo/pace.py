"""Runs the engine model against the clock of the event loop, with one timer.

Model seconds pass `speed` times as fast as real ones. The timer always stands at the end of
the step under way; when it fires late, the steps that were missed are taken at once, each at
its own model time, so nothing drifts.
"""

import asyncio
import math
from typing import Protocol

from cacheroute.core.engine.engine import Engine, Token
from cacheroute.core.engine.run import Run, Sequence


class Listener(Protocol):
    """Whoever waits for tokens."""

    def on_token(self, token: Token) -> None:
        """Take note of one token."""
        ...

    def flush(self) -> None:
        """Send on what has been noted; called once after a batch of tokens."""
        ...


class Pacer:
    """One engine in real time; every method must be called on its loop."""

    def __init__(self, engine: Engine, speed: float) -> None:
        self.engine = engine
        self._loop = asyncio.get_running_loop()
        self._speed = speed
        self._model_s = 0.0
        self._real_s = self._loop.time()
        self._frozen = False
        self._timer: asyncio.TimerHandle | None = None
        self._due: float | None = None
        self._listeners: dict[str, Listener] = {}

    @property
    def speed(self) -> float:
        """Model seconds in one real second."""
        return self._speed

    @property
    def frozen(self) -> bool:
        """Whether the engine stands still."""
        return self._frozen

    def now(self) -> float:
        """Return the model time."""
        if self._frozen:
            return self._model_s
        return self._model_s + (self._loop.time() - self._real_s) * self._speed

    def submit(self, sequence: Sequence, listener: Listener, *, at_s: float | None = None) -> Run:
        """Queue a request; its tokens come to `listener` until the last or an abort.

        `at_s` is the model time at which it was ready, if that has passed already: a timer
        that fires late must not cost model time.
        """
        now = self.now()
        run = self.engine.submit(sequence, now if at_s is None else min(at_s, now))
        self._listeners[sequence.id] = listener
        self._arm()
        return run

    def abort(self, sequence_id: str) -> None:
        """Drop a request at once; an unknown one is fine."""
        if self._listeners.pop(sequence_id, None) is not None:
            self.engine.abort(sequence_id, self.now())

    def set_speed(self, speed: float) -> None:
        """Go on at another speed from now."""
        self._model_s = self.now()
        self._real_s = self._loop.time()
        self._speed = speed
        self._arm(again=True)

    def freeze(self) -> None:
        """Stop model time: requests are taken and nothing comes out."""
        self._model_s = self.now()
        self._frozen = True
        self._arm()

    def thaw(self) -> None:
        """Let model time go on where it stopped."""
        self._real_s = self._loop.time()
        self._frozen = False
        self._arm(again=True)

    def stop(self) -> None:
        """Cancel the timer; whoever still waits hears nothing more."""
        self._frozen = True
        self._arm()

    def _arm(self, *, again: bool = False) -> None:
        """Set the timer to the end of the step under way, unless it stands there already."""
        due = None if self._frozen else self.engine.next_step_at()
        if due == self._due and not again:
            return
        self._due = due
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due is None:
            return
        now = self._loop.time()
        delay_s = self._real_s + (due - self._model_s) / self._speed - now
        # uvloop's timers count whole milliseconds and may round down: a timer that fires
        # early would be set again and again until the rest of the millisecond is over.
        self._timer = self._loop.call_at(
            now + math.ceil(max(0.0, delay_s) * 1000) / 1000, self._tick
        )

    def _tick(self) -> None:
        self._timer = None
        self._due = None
        touched: dict[int, Listener] = {}
        listeners = self._listeners
        for token in self.engine.step(self.now()):
            name = token.run.sequence.id
            listener = listeners.get(name)
            if listener is None:
                continue
            if token.finished:
                del listeners[name]
            listener.on_token(token)
            touched[id(listener)] = listener
        for listener in touched.values():
            listener.flush()
        self._arm()
