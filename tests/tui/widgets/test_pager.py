"""Lines to read: scrolled, wrapped, found, selected; never markup, never endless."""

from collections.abc import Sequence

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection

from cacheroute.console.patterns import Expression
from cacheroute_tui import frame
from cacheroute_tui.widgets.lines import Span
from cacheroute_tui.widgets.pager import MAX_LINE_CHARS, Pager


class _Reader(App[None]):
    def __init__(self, lines: Sequence[str], *, wraps: bool = False) -> None:
        super().__init__()
        self._given = lines
        self._wraps = wraps

    def compose(self) -> ComposeResult:
        """Show the lines."""
        yield Pager(id="pager", wraps=self._wraps, empty_text="nothing [here]")

    def on_mount(self) -> None:
        """Take the lines."""
        self.pager.show(self._given)

    @property
    def pager(self) -> Pager:
        """The widget."""
        return self.query_one(Pager)

    @property
    def seen(self) -> list[str]:
        """What the terminal shows."""
        return frame.text_of(self.screen).splitlines()


async def test_what_is_in_a_line_is_text() -> None:
    app = _Reader(["[b]bold[/b] \x1b[31m", "一二三"])
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.pause()
        assert app.seen[:2] == ["[b]bold[/b] \\x1b[31m", "一二三"]


async def test_nothing_is_said() -> None:
    app = _Reader([])
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.pause()
        assert app.seen[0] == " nothing [here]"


@pytest.mark.parametrize(
    ("keys", "first"),
    [("j", "line 1"), ("j j k", "line 1"), ("G", "line 95"), ("G g", "line 0"),
     ("pagedown", "line 4"), ("pagedown pageup", "line 0"), ("end home", "line 0")],
)  # fmt: skip
async def test_keys_scroll(keys: str, first: str) -> None:
    app = _Reader([f"line {number}" for number in range(100)])
    async with app.run_test(size=(40, 5)) as pilot:
        app.pager.focus()
        await pilot.press(*keys.split())
        await pilot.pause()
        assert app.seen[0].split("  ")[0].strip() == first


async def test_at_the_end_new_lines_are_followed_and_above_it_not() -> None:
    lines = [f"line {number}" for number in range(100)]
    app = _Reader(lines)
    async with app.run_test(size=(40, 5)) as pilot:
        app.pager.action_to(-1)
        app.pager.show([*lines, "new"], keeps_end=True)
        await pilot.pause()
        assert app.seen[-1].startswith("new")
        app.pager.action_to(0)
        app.pager.show([*lines, "new", "newer"], keeps_end=True)
        await pilot.pause()
        assert app.seen[0].startswith("line 0")


async def test_a_long_line_runs_out_of_sight_or_is_broken() -> None:
    app = _Reader(["x" * 30 + "一" * 10, "end"])
    async with app.run_test(size=(21, 8)) as pilot:
        await pilot.pause()
        assert app.seen[1].rstrip() == "end"
        app.pager.action_aside(8)
        await pilot.pause()
        assert app.seen[1].rstrip() == ""
        app.pager.set_wrap(True)
        await pilot.pause()
        assert app.seen[:4] == ["x" * 21, "x" * 9 + "一" * 6, "一" * 4, "end"]


async def test_an_absurd_line_is_cut_and_says_so() -> None:
    app = _Reader(["x" * (MAX_LINE_CHARS + 1)], wraps=True)
    async with app.run_test(size=(100, 50)) as pilot:
        await pilot.pause()
        assert f"… (cut at {MAX_LINE_CHARS} characters)" in "".join(app.seen)


async def test_lines_are_found_in_turn() -> None:
    app = _Reader([f"line {number}" for number in range(100)])
    async with app.run_test(size=(40, 5)) as pilot:
        assert app.pager.search(Expression("9$")) == 10
        await pilot.pause()
        assert app.seen[0].startswith("line 9")
        assert app.pager.go_to_found(1) == (2, 10)
        await pilot.pause()
        assert app.seen[0].startswith("line 19")
        assert app.pager.go_to_found(-1) == (1, 10)
        assert app.pager.go_to_found(-1) == (10, 10)
        assert app.pager.search(None) == 0
        assert app.pager.go_to_found(1) == (0, 0)


async def test_what_is_selected_is_the_text_alone() -> None:
    app = _Reader(["first line", "second line"])
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.pause()
        found = app.pager.get_selection(Selection(Offset(6, 0), Offset(6, 1)))

        assert found == ("line\nsecond", "\n")


async def test_a_painted_line_keeps_its_text() -> None:
    app = _Reader([])
    async with app.run_test(size=(40, 5)) as pilot:
        app.pager.show([(Span("a", "good"), Span("[b]", "bad"))])
        await pilot.pause()
        assert app.pager.text == "a[b]"
        assert app.seen[0].rstrip() == "a[b]"


async def test_a_remapped_key_scrolls_it_too() -> None:
    app = _Reader([f"line {number}" for number in range(100)])
    app.set_keymap({"row.last": "n"})
    async with app.run_test(size=(40, 10)) as pilot:
        app.pager.focus()
        await pilot.press("n")
        await pilot.pause()

        assert app.seen[-1].startswith("line 99")
