"""The console as an app: it holds the store and the feed, and shows one screen at a time.

A new snapshot is a message; while frames are late, messages collapse into the newest. Only the
visible screen draws, and nothing is drawn while it is held.
"""

import asyncio
import gc
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textual.binding import Binding
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from cacheroute.console.source import Source
from cacheroute.console.store import Phase, Snapshot, Store
from cacheroute.core.clock import Clock
from cacheroute_cli.config.doubts import first_few
from cacheroute_tui.falling import Falling
from cacheroute_tui.feed import Feed
from cacheroute_tui.keymap import Key
from cacheroute_tui.leaving import Leaving, restoring
from cacheroute_tui.noting import Noting
from cacheroute_tui.operating import Operating
from cacheroute_tui.options import INTERVALS_S, Target, TuiOptions
from cacheroute_tui.plain_signs import PlainlyDrawn
from cacheroute_tui.reading import explained_lines, help_lines
from cacheroute_tui.replaying import Replaying
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.screens.instances import Instances
from cacheroute_tui.screens.overview import Overview
from cacheroute_tui.screens.processes import Processes
from cacheroute_tui.screens.queues import Queues
from cacheroute_tui.screens.raw import Raw
from cacheroute_tui.screens.resources import Resources
from cacheroute_tui.screens.scores import Scores
from cacheroute_tui.screens.topology import Topology
from cacheroute_tui.screens.traces import Traces
from cacheroute_tui.shrinking import Shrinking
from cacheroute_tui.silencing import Silencing
from cacheroute_tui.themes import PALETTES, THEMES, Palette, textual_themes
from cacheroute_tui.typing_ahead import TypingAhead
from cacheroute_tui.widgets.menu import Choice, Menu
from cacheroute_tui.widgets.sheet import Sheet

SCREENS: tuple[type[ConsoleScreen], ...] = (
    Overview, Instances, Resources, Queues, Scores, Topology, Traces, Processes, Raw,
)  # fmt: skip
"""By their numbers."""

Connect = Callable[[Target, bool], Source]
"""Opens a source for a target; the second argument is whether it may change anything."""


@dataclass
class SnapshotReady(Message):
    """There is something new to draw."""

    rev: int

    def can_replace(self, message: Message) -> bool:
        """Let late frames collapse into the newest."""
        return isinstance(message, SnapshotReady)


class ConsoleApp(
    Falling,
    TypingAhead,
    Shrinking,
    Silencing,
    Replaying,
    Noting,
    PlainlyDrawn,
    Operating,
    inherit_bindings=False,
):
    """The whole console."""

    MODES: ClassVar[dict[str, Callable[[], Screen[Any]]]] = {  # type: ignore[assignment]
        one.NAME: one for one in SCREENS
    }
    CSS_PATH = "styles/console.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[Binding]] = [  # type: ignore[assignment]
        # What is open over a screen sees no keys of the app but those that come first.
        Binding("ctrl+c", "copy_or_quit", show=False, system=True, priority=True),
        # Many terminals keep it for themselves, so it is no way out; who tries it is told of one.
        Binding("ctrl+q", "tell_ways_out", show=False, system=True, priority=True),
    ]
    TITLE = "CacheRoute"

    def __init__(self, options: TuiOptions, *, connect: Connect, clock: Clock) -> None:
        self.palette: Palette = PALETTES[options.theme]
        super().__init__(ansi_color=options.theme in ("ansi", "mono"))
        self.options = options
        self.clock = clock
        self.is_ascii = options.ascii
        self.is_paused = False
        self._connect = connect
        self._paused_at_s = 0.0
        self._held: Snapshot | None = None
        self._feeding: asyncio.Task[None] | None = None
        self._previous: str | None = None
        self._last_mode: str | None = None
        self._leaving: Leaving | None = None
        for theme in textual_themes():
            self.register_theme(theme)
        self._aim(options.target)

    def _aim(self, target: Target) -> None:
        """Look at another Proxy from now on; what was seen of the one before is gone."""
        self.target = target
        self.source = self._connect(target, self.may_write)
        self.store = Store(target.proxy_url, interval_s=self.options.interval_s, rules=target.rules)
        self.feed = Feed(
            self.source,
            self.store,
            self.clock,
            ready=self._tell,
            interval_s=self.options.interval_s,
        )

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Name the colours that our own themes add, for the moment before one is in force."""
        return {"rule": "#808080", "bar": "#1e262e"}

    def _tell(self, snapshot: Snapshot) -> None:
        self.post_message(SnapshotReady(snapshot.rev))

    # -- what screens read ---------------------------------------------------------------

    @property
    def shown(self) -> Snapshot:
        """What is drawn: the newest, or what was held."""
        return self._held or self.store.snapshot

    def show_newest(self) -> None:
        """Draw what was changed here, also while what is shown is held."""
        if self._held is not None:
            self._held = self.store.snapshot
        if self.front is not None:
            self.front.refresh_data()

    @property
    def phase(self) -> Phase:
        """How the connection is now; while what is shown is held no look is due, and none late."""
        phase = self.store.snapshot.connection.phase(self.clock.now().mono_s)
        return "live" if self.is_paused and phase == "lagging" else phase

    @property
    def may_write(self) -> bool:
        """Whether changes at this Proxy are allowed."""
        return self.options.write and not self.target.readonly

    @property
    def paused_for_s(self) -> float:
        """Since when what is shown is held."""
        return self.clock.now().mono_s - self._paused_at_s if self.is_paused else 0.0

    @property
    def front(self) -> ConsoleScreen | None:
        """The screen of the console that is on top, or below what is open over it."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, ConsoleScreen):
                return screen
        return None

    def screens_in_order(self) -> Iterable[type[ConsoleScreen]]:
        """Return the screens that have a number."""
        return SCREENS

    def mode_of(self, screen: ConsoleScreen) -> str:  # noqa: ARG002 - all that is open is of it
        """Return which numbered screen another one was opened from."""
        return self.current_mode

    def shown_key(self, key: Key) -> str:
        """Return how a key is written, also when it was remapped."""
        shown = self.options.keys.get(key.id) or key.display
        return shown.replace("⏎", "enter") if self.is_ascii else shown

    # -- life ----------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Show the first screen before there is anything to show, and begin to look."""
        self.theme = self.options.theme
        self.set_keymap(dict(self.options.keys))
        if self.options.doubts:
            said = first_few(self.options.doubts)
            self.notify(said, severity="warning", timeout=15, markup=False)
        self.switch_mode(self.options.screen)
        self.watch_sizes()
        # What a look needs takes long to load, so it is drawn first.
        self.call_after_refresh(self._begin)
        self.set_interval(1.0, self._tick)
        self.call_after_refresh(_keep_what_is_loaded)
        if not (self.is_headless or self.is_web):
            self._leaving = Leaving(self.exit, restoring(self._driver))
            self._leaving.watch()
            self.set_interval(Leaving.EVERY_S, self._leaving.look)

    def exit(
        self, result: int | None = None, return_code: int = 0, message: Any | None = None
    ) -> None:
        """End, and see to it that it does end."""
        if self._leaving is not None:
            self._leaving.expect_end(return_code if result is None else result)
        super().exit(result, return_code, message)

    def _begin(self) -> None:
        if self._feeding is not None and not self._feeding.done():
            return
        self._feeding = asyncio.create_task(self.feed.run())  # noqa: TID251 - held here

    async def _end(self) -> None:
        if self._feeding is not None:
            self._feeding.cancel()
            await asyncio.gather(self._feeding, return_exceptions=True)
        await self.source.close()

    async def on_unmount(self) -> None:
        """End the looks and the connection."""
        if self._leaving is not None:
            self._leaving.leave()
        await self._end()

    def on_snapshot_ready(self, message: SnapshotReady) -> None:  # noqa: ARG002 - the newest counts
        """Draw the newest snapshot on the visible screen."""
        if not self.is_running:
            return  # The toolkit is taking the screens apart: half of one cannot be drawn.
        self.note_connection()
        self.show_small()
        if self.front is not None:
            self.front.refresh_data()

    def _tick(self) -> None:
        if not self.is_running:
            return
        screen = self.front
        self.show_small()
        if screen is not None and self.screen is screen and not self.is_small:
            screen.tick_frame()
            screen.tick()

    def screen_shown(self, screen: ConsoleScreen) -> None:
        """Ask for what the screen on top needs."""
        asks = screen.asks()
        if screen.NEEDS - self.feed.needs or asks.keys() - self.feed.asks.keys():
            self.feed.look_now()
        self.feed.needs, self.feed.asks = screen.NEEDS, asks
        if self.current_mode != self._last_mode:
            self._previous, self._last_mode = self._last_mode, self.current_mode

    # -- keys ----------------------------------------------------------------------------

    def action_screen(self, number: int) -> None:
        """Go to a screen by its number."""
        self.switch_mode(SCREENS[number - 1].NAME)

    def action_previous_view(self) -> None:
        """Go back to the screen before."""
        if self._previous is not None:
            self.switch_mode(self._previous)

    def action_pause(self) -> None:
        """Hold what is shown, or go on."""
        if self.stops_or_plays():
            return
        self.is_paused = not self.is_paused
        self._paused_at_s = self.clock.now().mono_s
        self._held = self.store.snapshot if self.is_paused else None
        self.feed.is_held, self.feed.missed = self.is_paused, 0
        if not self.is_paused:
            self.feed.look_now()
        if self.front is not None:
            self.front.refresh_data()

    def action_refresh_now(self) -> None:
        """Look now."""
        self.feed.forget()
        self.feed.look_now()

    def action_faster(self) -> None:
        """Look more often."""
        self._set_interval(next((s for s in reversed(INTERVALS_S) if s < self.feed.interval_s), 0))

    def action_slower(self) -> None:
        """Look less often."""
        self._set_interval(next((s for s in INTERVALS_S if s > self.feed.interval_s), 0))

    def _set_interval(self, interval_s: float) -> None:
        if interval_s:
            self.options = replace(self.options, interval_s=interval_s)
            self.feed.set_interval(interval_s)

    def action_next_theme(self) -> None:
        """Take the next theme."""
        at = THEMES.index(self.palette.name)
        self.take_theme(THEMES[(at + 1) % len(THEMES)])

    def take_theme(self, name: str) -> None:
        """Draw in the colours of another theme."""
        self.palette = PALETTES[name]
        self.ansi_color = name in ("ansi", "mono")
        self.theme = name
        self.notify(f"theme {name}", timeout=2)
        if self.front is not None:
            self.front.redraw()

    def action_help(self) -> None:
        """Show the keys of this screen."""
        screen = self.front
        if screen is not None and self.screen is screen:
            self.push_screen(Sheet(f"keys of {screen.TITLE}", help_lines(screen)))

    def action_explain(self) -> None:
        """Say what stands here means."""
        screen = self.front
        if screen is not None and self.screen is screen:
            terms, of = screen.explained(), screen.EXPLAINS
            lines = [*explained_lines(terms[:1], of), *screen.explained_beside()]
            lines += explained_lines(terms[1:], of) if terms[1:] else []
            self.push_screen(Sheet("what it means", lines))

    def action_context(self) -> None:
        """Choose another Proxy to look at."""
        choices = [
            Choice(id=str(at), text=f"{one.title:<20} {one.proxy_url}")
            for at, one in enumerate(self.options.targets)
        ]
        if not choices:
            self.notify("there are no contexts; 'cacheroute context add' makes one", timeout=4)
            return
        now = next(
            (str(at) for at, one in enumerate(self.options.targets) if one == self.target), None
        )
        self.push_screen(Menu("look at", choices, chosen=now), self._context_chosen)

    def _context_chosen(self, at: str | None) -> None:
        if at is not None:
            self.run_worker(self.look_at(self.options.targets[int(at)]), exclusive=True)

    async def look_at(self, target: Target) -> None:
        """Look at another Proxy; what is shown of the one before goes."""
        await self._end()
        if self.is_paused:
            self.action_pause()
        self._aim(target)
        screen = self.front
        if screen is not None:
            self.feed.needs, self.feed.asks = screen.NEEDS, screen.asks()
            screen.redraw()
        self._begin()

    def action_close(self) -> None:
        """Undo what the screen undoes first, or close what was opened over a numbered one."""
        front = self.front
        if front is not None and self.screen is front and front.step_back():
            return
        if len(self.screen_stack) > 1:
            self.pop_screen()
        elif self.front is not None:
            self.front.focus_body()

    def action_clear_history(self) -> None:
        """Forget the history."""
        self.store.history.clear()
        self.notify("the history is empty", timeout=2)
        if self.front is not None:
            self.front.history_cleared()

    def action_copy_or_quit(self) -> None:
        """Copy what is selected, or leave."""
        field = self.focused
        text = field.selected_text if isinstance(field, Input) else ""
        text = text or self.screen.get_selected_text() or ""
        if text:
            self.copy_to_clipboard(text)
            self.screen.clear_selection()
            return
        self.exit(130)

    def action_tell_ways_out(self) -> None:
        """Say how to leave."""
        self.notify("q leaves, and ctrl+c does from everywhere", timeout=4)

    def on_tabs_chosen(self, message: Any) -> None:
        """Go to the screen whose name was clicked."""
        self.action_screen(message.number)


def _keep_what_is_loaded() -> None:
    """Let the collector look at new objects only, so that it never holds up a frame for long."""
    gc.freeze()
    # A look makes a few thousand rows, which go with the next one. As often as is usual, going
    # through them would be a seventh of all that a look costs.
    gc.set_threshold(20_000, 10, 50)
    gc.enable()
