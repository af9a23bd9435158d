"""What is said once about the Proxy: that it is there again, and that it has started anew."""

from typing import TYPE_CHECKING, cast

from textual.app import App

from cacheroute.console.amounts import render_duration
from cacheroute.console.store import Store

if TYPE_CHECKING:
    from cacheroute_tui.app import ConsoleApp


class Noting(App[int]):
    """What the app remembers from look to look."""

    _noted_of: Store | None = None
    _lost_at_s: float | None = None
    _was_lost = False
    _noted_run: str | None = None

    def note_connection(self) -> None:
        """Say when the Proxy is there again, for how long it was not, and if it is another run."""
        app = cast("ConsoleApp", self)
        if app.store is not self._noted_of:
            # Another Proxy is looked at: what the one before did is no news of this one.
            self._noted_of, self._noted_run = app.store, None
            self._lost_at_s, self._was_lost = None, False
        told = []
        connection, look = app.store.snapshot.connection, app.store.snapshot.look
        if connection.lost_at_s is not None and self._lost_at_s is None:
            self._lost_at_s = connection.lost_at_s
        elif connection.lost_at_s is None and self._lost_at_s is not None:
            gone_s = app.clock.now().mono_s - self._lost_at_s
            self._lost_at_s = None
            if self._was_lost:
                told.append(f"is back after {render_duration(gone_s)}")
        self._was_lost = app.phase == "lost"
        run = look.look.run if look is not None and app.source.kind == "live" else None
        if run and self._noted_run and run != self._noted_run:
            told.append("has started anew: its counters began at 0")
        self._noted_run = run or self._noted_run
        if told:
            self.notify(f"{app.target.title} {', and '.join(told)}", markup=False)
