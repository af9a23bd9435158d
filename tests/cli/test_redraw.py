"""A picture that stays in its place: a small terminal obeys what is written."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute_cli.redraw import Picture, Size

_SEQUENCE = re.compile(r"\x1b\[(\??)(\d*)([A-Za-z])|(.)", re.DOTALL)


class Screen:
    """As much of a terminal as a picture needs."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.lines: list[str] = []
        self.row = 0
        self.column = 0
        self.scrolled = 0

    def write(self, text: str) -> None:
        for private, number, final, sign in _SEQUENCE.findall(text):
            if sign == "\n":
                self.row, self.column = self.row + 1, 0
                if self.row - self.scrolled >= self.size.rows:
                    self.scrolled += 1
            elif sign == "\r":
                self.column = 0
            elif sign:
                line = self._line().ljust(self.column)
                self.lines[self.row] = line[: self.column] + sign + line[self.column + 1 :]
                self.column += 1
            elif final == "A":
                self.row = max(self.scrolled, self.row - int(number or 1))
            elif final == "K":
                assert self.column < self.size.columns, "it would erase the last sign"
                self.lines[self.row] = self._line()[: self.column]
            elif final == "J":
                self._line()
                self.lines[self.row :] = [self.lines[self.row][: self.column]]
            else:
                assert private, f"{final} is not needed"

    def _line(self) -> str:
        self.lines += [""] * (self.row + 1 - len(self.lines))
        return self.lines[self.row]

    def shown(self) -> list[str]:
        lines = [line.rstrip() for line in self.lines]
        while lines and not lines[-1]:
            lines.pop()
        return lines


SIZE = Size(columns=10, rows=6)
_LINES = st.lists(st.text("abc ", max_size=12), max_size=8)


@given(st.lists(_LINES, min_size=1, max_size=5))
def test_what_stands_there_is_always_the_last_picture(pictures: list[list[str]]) -> None:
    screen, picture = Screen(SIZE), Picture()
    screen.write("before\n")

    for lines in pictures:
        screen.write(picture.redrawn(lines, SIZE))

    kept = pictures[-1][: SIZE.rows - 1]
    cut = [line if len(line) <= 10 else line[:9] + "…" for line in kept]
    while cut and not cut[-1].rstrip():
        cut.pop()
    assert screen.shown() == ["before", *(line.rstrip() for line in cut)]
    assert screen.scrolled <= 2


def test_only_what_changed_is_drawn_again() -> None:
    picture = Picture()
    picture.redrawn(["head", "one", "two"], SIZE)

    again = picture.redrawn(["head", "one", "TWO"], SIZE)

    assert "head" not in again
    assert "one" not in again
    assert "TWO\x1b[K" in again


def test_nothing_is_ever_cleared_and_all_is_shown_at_once() -> None:
    picture = Picture()
    drawn = [picture.redrawn([str(n)] * (5 - n), SIZE) for n in range(5)]

    assert all("\x1b[2J" not in text and "\x1b[H" not in text for text in drawn)
    assert all(text.startswith("\x1b[?2026h") and text.endswith("\x1b[?2026l") for text in drawn)


def test_the_same_picture_is_not_drawn_again() -> None:
    picture = Picture()
    picture.redrawn(["same"], SIZE)

    assert picture.redrawn(["same"], SIZE) == ""


def test_a_line_that_fills_its_row_is_not_erased_at_its_end() -> None:
    picture = Picture()
    picture.redrawn(["x"], SIZE)

    assert "\x1b[K" not in picture.redrawn(["y" * 10], SIZE)


@pytest.mark.parametrize("rows", [3, 9])
def test_a_terminal_of_another_size_is_drawn_anew(rows: int) -> None:
    picture = Picture()
    picture.redrawn(["x" * 10, "one"], SIZE)

    again = picture.redrawn(["x" * 10, "one"], Size(columns=5, rows=rows))

    # The first line has become two on the narrower terminal.
    assert f"\x1b[{min(3, rows - 1)}A\r\x1b[J" in again
    assert again.endswith("xxxx…\none\n\x1b[?2026l")
