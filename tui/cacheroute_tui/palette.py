"""Everything that can be done, to search in: screens, keys and commands, from their registries."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider

from cacheroute_cli.main import COMMANDS
from cacheroute_tui.command_words import LOOKING, WITHOUT_PROXY
from cacheroute_tui.keymap import Key
from cacheroute_tui.themes import THEMES

if TYPE_CHECKING:
    from cacheroute_tui.app import ConsoleApp

_NOT_HERE = frozenset(("tui", "web", "repl", "demo", "record", "watch"))
_NEED_WORDS = frozenset(("show", "raw", "export", "explain", "config", "context", "proxy", "agent"))
"""Commands that mean little without more words."""

Entry = tuple[str, str, Callable[[], object]]
"""What it is called, what it does, and how it is done."""


class Palette(CommandPalette):
    """The toolkit's palette, without the picture in front that some terminals draw too wide."""

    DEFAULT_CSS = "Palette SearchIcon { display: none; }"


class Everything(Provider):
    """Gives the palette its lines."""

    @property
    def console(self) -> "ConsoleApp":
        """The app."""
        return cast("ConsoleApp", self.app)

    async def discover(self) -> Hits:
        """Give all, before anything is typed."""
        for name, doc, act in entries(self.console):
            yield DiscoveryHit(name, act, help=doc)

    async def search(self, query: str) -> Hits:
        """Give those whose name holds the letters in order."""
        matcher = self.matcher(query)
        for name, doc, act in entries(self.console):
            score = matcher.match(name)
            if score > 0:
                yield Hit(score, matcher.highlight(name), act, text=name, help=doc)


def entries(console: "ConsoleApp") -> Iterator[Entry]:
    """Return what this console may do, in the order of the registries."""
    for one in console.screens_in_order():
        yield f"screen: {one.TITLE}", f"key {one.NUMBER}", _goes_to(console, one.NAME)
    screen = console.front
    for key in screen.every_key() if screen is not None else ():
        if key.label and (console.may_write or not key.writes):
            yield f"{key.label.lower()} ({console.shown_key(key)})", key.doc, _acts(console, key)
    for theme in THEMES:
        yield f"theme: {theme}", "Draw in other colours.", _draws_in(console, theme)
    is_live = console.source.kind == "live"
    for name, doc in COMMANDS.items():
        if name in _NOT_HERE or not (console.may_write or name in LOOKING):
            continue
        if is_live or name in WITHOUT_PROXY:
            yield f":{name}", doc, _types(console, name)


def _goes_to(console: "ConsoleApp", name: str) -> Callable[[], object]:
    return lambda: console.switch_mode(name)


def _draws_in(console: "ConsoleApp", name: str) -> Callable[[], object]:
    return lambda: console.take_theme(name)


def _acts(console: "ConsoleApp", key: Key) -> Callable[[], object]:
    async def act() -> None:
        # As if the key had been pressed: whatever has the focus is asked first.
        for name in key.keys.split(",")[:1]:
            console.simulate_key(name)

    return act


def _types(console: "ConsoleApp", name: str) -> Callable[[], object]:
    def types() -> None:
        if name in LOOKING and name not in _NEED_WORDS:
            console.run_line(name) if name not in _screens(console) else console.run_line(
                f"{name} --limit 1000"
            )
        else:
            console.open_command(f"{name} ")

    return types


def _screens(console: "ConsoleApp") -> set[str]:
    return {one.NAME for one in console.screens_in_order()}
