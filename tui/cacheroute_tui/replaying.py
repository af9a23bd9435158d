"""A recording on the screen: its time is stopped and played by `p`, and stepped by `{` and `}`."""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from textual.app import App

from cacheroute.console.amounts import render_clock
from cacheroute.console.source import Playable, Position, SourceFault

if TYPE_CHECKING:
    from cacheroute_tui.app import ConsoleApp


class Replaying(App[int]):
    """What the app does with the time of a recording."""

    @property
    def _replayed(self) -> Playable | None:
        source = cast("ConsoleApp", self).source
        return cast("Playable", source) if source.kind == "replay" else None

    @property
    def _position(self) -> Position | None:
        source = self._replayed
        with suppress(SourceFault):
            return None if source is None else source.position
        return None

    @property
    def is_stopped(self) -> bool:
        """Whether it is a recording whose time stands."""
        position = self._position
        return position is not None and not position.is_playing

    def replay_line(self) -> str | None:
        """Say where a recording stands that does not go on; None for all else."""
        position = self._position
        if position is None or position.is_playing:
            return None
        where = f"look {position.index + 1} of {position.count}, {render_clock(position.at)}"
        if position.index == position.count - 1:
            return f"the recording ends here: {where} · {{ steps back, p plays it again"
        return f"{where} · {{ and }} step, p plays"

    def action_step(self, looks: int) -> None:
        """Go to another look of a recording, and stop its time there."""
        source = self._replayed
        if source is None:
            told = "only a recording has steps: 'cacheroute tui --replay FILE' shows one"
            self.notify(told, markup=False, timeout=4)
            return
        self._moved(lambda: source.step(looks))

    def stops_or_plays(self) -> bool:
        """Stop the time of a recording, or let it go on; False where it is none."""
        source = self._replayed
        if source is None:
            return False
        self._moved(source.play if self.is_stopped else source.pause)
        return True

    def _moved(self, move: Callable[[], None]) -> None:
        try:
            move()
        except SourceFault as fault:
            self.notify(fault.message, severity="warning", markup=False)
        cast("ConsoleApp", self).action_refresh_now()
