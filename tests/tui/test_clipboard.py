"""Copied text is where the toast says it is."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from cacheroute_tui.clipboard import MAX_OSC52_BYTES, TerminalClipboard

_XTERM = {"TERM": "xterm-256color"}


def _made(
    mode: str, environ: Mapping[str, str], folder: Path, *, programs: tuple[str, ...] = ()
) -> tuple[TerminalClipboard, list[str]]:
    written: list[str] = []
    clipboard = TerminalClipboard(
        mode,
        written.append,
        environ=environ,
        folder=folder,
        which=lambda name: f"/usr/bin/{name}" if name in programs else None,
    )
    return clipboard, written


async def test_a_terminal_is_sent_what_it_takes(tmp_path: Path) -> None:
    clipboard, written = _made("auto", _XTERM, tmp_path)

    copied = await clipboard.copy("inst-[b]一[/b]")

    assert written == ["inst-[b]一[/b]"]
    assert copied.told == "copied 15 B by OSC 52"


async def test_what_is_too_large_for_a_terminal_is_kept_in_a_file_that_is_named(
    tmp_path: Path,
) -> None:
    clipboard, written = _made("auto", _XTERM, tmp_path)
    text = "x" * (MAX_OSC52_BYTES + 1)

    copied = await clipboard.copy(text)

    assert written == []
    assert copied.path is not None
    assert copied.path.read_text() == text
    assert copied.path.stat().st_mode & 0o077 == 0
    assert str(copied.path) in copied.told
    assert "74,994 B at most" in copied.told


async def test_the_largest_text_that_a_terminal_takes_is_sent(tmp_path: Path) -> None:
    clipboard, written = _made("auto", _XTERM, tmp_path)

    await clipboard.copy("x" * MAX_OSC52_BYTES)

    assert len(written) == 1


@pytest.mark.parametrize(
    "environ",
    [
        {"TERM": "linux"},
        {"TERM": "xterm-256color", "VTE_VERSION": "7006"},
        {"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"},
    ],
)
async def test_a_terminal_that_loses_what_it_is_sent_is_sent_nothing(
    environ: dict[str, str], tmp_path: Path
) -> None:
    clipboard, written = _made("auto", environ, tmp_path)

    copied = await clipboard.copy("inst-1")

    assert written == []
    assert copied.path is not None


async def test_who_says_osc52_is_believed(tmp_path: Path) -> None:
    clipboard, written = _made("osc52", {"TERM": "linux"}, tmp_path)

    await clipboard.copy("inst-1")

    assert written == ["inst-1"]


async def test_a_file_is_written_when_it_is_asked_for(tmp_path: Path) -> None:
    clipboard, written = _made("file", _XTERM, tmp_path)

    copied = await clipboard.copy("inst-1")

    assert written == []
    assert copied.told == f"6 B kept in {copied.path}"


async def test_native_without_a_program_says_so(tmp_path: Path) -> None:
    clipboard, _ = _made("native", _XTERM, tmp_path)

    copied = await clipboard.copy("inst-1")

    assert copied.why == "there is no program for the clipboard here"


async def test_a_program_gets_the_text(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "xclip"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat > {tmp_path}/got\n")
    program.chmod(0o755)
    environ = {"DISPLAY": ":0", "PATH": f"{program.parent}:/usr/bin:/bin"}
    written: list[str] = []
    clipboard = TerminalClipboard(
        "auto", written.append, environ=environ, folder=tmp_path,
        which=lambda name: str(program) if name == "xclip" else None,
    )  # fmt: skip

    copied = await clipboard.copy("inst-1")

    assert written == []
    assert copied.method in ("xclip", "file")
    if copied.method == "xclip":
        assert (tmp_path / "got").read_text() == "inst-1"


def test_tmux_is_asked_to_hand_it_on(tmp_path: Path) -> None:
    clipboard, _ = _made("auto", {"TMUX": "/tmp/x"}, tmp_path, programs=("tmux",))

    assert clipboard.program() == ("tmux", "load-buffer", "-w", "-")


def test_over_ssh_no_program_of_the_far_host_is_used(tmp_path: Path) -> None:
    environ = {"SSH_CONNECTION": "1 2 3 4", "DISPLAY": ":0"}
    clipboard, _ = _made("auto", environ, tmp_path, programs=("xclip",))

    assert clipboard.program() is None


async def test_only_the_newest_files_stay(tmp_path: Path) -> None:
    clipboard, _ = _made("file", _XTERM, tmp_path)

    for number in range(25):
        await clipboard.copy(f"text {number}")

    assert len(os.listdir(tmp_path)) == 20
