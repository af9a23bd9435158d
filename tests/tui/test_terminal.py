"""What is asked of a terminal before the console takes it over."""

import os
import pty
import threading

import pytest

from cacheroute_tui import terminal


def test_the_toolkit_is_told_to_keep_still_and_over_ssh_to_draw_less_often() -> None:
    here = {"COLUMNS": "80", "LINES": "24"}
    there = {"SSH_CONNECTION": "x"}
    own = {"TEXTUAL_FPS": "60", "SSH_TTY": "x", "TEXTUAL_ANIMATIONS": "full"}
    for environ in (here, there, own):
        terminal.prepare(environ)

    assert here == {"TEXTUAL_ANIMATIONS": "none"}
    assert there["TEXTUAL_FPS"] == "30"
    assert own == {"TEXTUAL_FPS": "60", "SSH_TTY": "x", "TEXTUAL_ANIMATIONS": "full"}


@pytest.mark.parametrize(
    ("environ", "is_light", "theme"),
    [
        ({}, None, "dark"),
        ({}, True, "light"),
        ({}, False, "dark"),
        ({"COLORFGBG": "0;15"}, None, "light"),
        ({"COLORFGBG": "15;default;0"}, None, "dark"),
        ({"COLORFGBG": "0;15"}, False, "dark"),
        ({"NO_COLOR": "1"}, True, "mono"),
        ({"NO_COLOR": ""}, True, "light"),
        ({"TERM": "linux"}, None, "ansi"),
    ],
)
def test_the_theme_suits_the_terminal(
    environ: dict[str, str], is_light: bool | None, theme: str
) -> None:
    assert terminal.theme_for(environ, is_light=is_light) == theme


@pytest.mark.parametrize(
    ("answer", "is_light"),
    [
        (b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\", True),
        (b"\x1b]11;rgb:1010/1414/1818\x07", False),
        (b"\x1b]11;rgba:ff/fa/f0/ff\x07", True),
        (b"\x1b[?62;22c", None),
        (b"", None),
    ],
)
def test_the_answer_of_a_terminal_is_read(answer: bytes, is_light: bool | None) -> None:
    assert terminal.background_is_light(answer) is is_light


@pytest.mark.parametrize("answer", [b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c", b"\x1b[?1;2c"])
def test_a_terminal_is_asked_and_left_as_it_was(answer: bytes) -> None:
    ours, theirs = pty.openpty()

    def terminal_side() -> None:
        asked = b""
        while b"\x1b[c" not in asked:
            asked += os.read(ours, 1024)
        os.write(ours, answer)

    side = threading.Thread(target=terminal_side, daemon=True)
    side.start()
    before = __import__("termios").tcgetattr(theirs)
    try:
        found = terminal._asked(theirs)
        after = __import__("termios").tcgetattr(theirs)
    finally:
        side.join(5)
        os.close(ours)
        os.close(theirs)

    assert found == answer
    assert after == before


def test_what_is_no_terminal_is_none() -> None:
    assert not terminal.is_interactive({"TERM": "dumb"})
