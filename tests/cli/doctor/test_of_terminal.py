"""What a terminal can show is told from what it says of itself."""

import subprocess
import uuid
from collections.abc import Iterator, Mapping

import pytest

from cacheroute_cli.doctor.of_terminal import Terminal, ask_tmux, check_terminal


def checks(
    columns: int = 80,
    rows: int = 24,
    *,
    encoding: str = "utf-8",
    tmux: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> dict[str, tuple[str, str]]:
    terminal = Terminal(
        is_terminal=True, columns=columns, rows=rows, encoding=encoding,
        environ={"TERM": "xterm-256color", **(environ or {})}, tmux_clipboard=tmux,
    )  # fmt: skip
    return {one.name: (one.verdict, one.sentence) for one in check_terminal(terminal)}


def test_a_usual_terminal_is_well() -> None:
    assert checks(environ={"COLORTERM": "truecolor"}) == {
        "terminal": ("ok", "80x24"),
        "colours": ("ok", "16 million"),
        "signs": ("ok", "utf-8: all signs can be shown"),
        "clipboard": ("ok", "OSC 52, as far as this terminal knows it"),
    }


@pytest.mark.parametrize(
    ("size", "words"),
    [((79, 24), "no room for every column"), ((59, 24), "one line per Instance"),
     ((80, 15), "one line per Instance"), ((80, 23), "no room")],
)  # fmt: skip
def test_a_small_one_is_told_what_it_misses(size: tuple[int, int], words: str) -> None:
    verdict, sentence = checks(*size)["terminal"]

    assert verdict == "warn"
    assert words in sentence


@pytest.mark.parametrize(
    ("environ", "verdict", "words"),
    [
        ({}, "ok", "256"),
        ({"TERM": "linux"}, "ok", "16"),
        ({"TERM": "dumb"}, "warn", "TERM is dumb"),
        ({"TERM": ""}, "warn", "TERM is not set"),
        ({"NO_COLOR": "1"}, "ok", "off, as NO_COLOR is set"),
    ],
)
def test_colours_are_counted(environ: Mapping[str, str], verdict: str, words: str) -> None:
    found = checks(environ=environ)["colours"]

    assert found[0] == verdict
    assert words in found[1]


def test_without_utf8_signs_are_letters() -> None:
    assert checks(encoding="ascii")["signs"] == ("warn", "ascii: signs are shown as letters")


@pytest.mark.parametrize(
    ("tmux", "environ", "verdict"),
    [
        (None, {"TERM_PROGRAM": "Apple_Terminal"}, "warn"),
        (None, {"VTE_VERSION": "7003"}, "warn"),
        (None, {"STY": "1.pts"}, "warn"),
        ("off", {}, "warn"),
        ("external", {}, "ok"),
        ("on", {}, "ok"),
    ],
)
def test_who_passes_on_no_clipboard_is_known(
    tmux: str | None, environ: Mapping[str, str], verdict: str
) -> None:
    assert checks(tmux=tmux, environ=environ)["clipboard"][0] == verdict


def test_a_pipe_is_no_terminal() -> None:
    terminal = Terminal(is_terminal=False, columns=1, rows=1, encoding="", environ={})

    [check] = check_terminal(terminal)
    assert check.verdict == "ok"


@pytest.fixture
def tmux() -> Iterator[str]:
    name = f"cacheroute-{uuid.uuid4().hex[:8]}"
    start = ["tmux", "-L", name, "-f", "/dev/null", "new-session", "-d", "sleep 60"]
    subprocess.run(start, check=True)
    ask = ["tmux", "-L", name, "display-message", "-p", "#{socket_path},#{pid},0"]
    told = subprocess.run(
        ask,
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    yield told.stdout.strip()
    end = ["tmux", "-L", name, "kill-server"]
    subprocess.run(end, check=True)


def test_a_real_tmux_is_asked(tmux: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", tmux)

    assert ask_tmux({"TMUX": tmux}) == "external"


def test_outside_of_tmux_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask_tmux({}) is None
    monkeypatch.setenv("TMUX", "/none,1,0")
    assert ask_tmux({"TMUX": "/none,1,0"}) is None
