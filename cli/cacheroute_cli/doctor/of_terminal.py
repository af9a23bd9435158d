"""What the terminal can show, as far as it says so: size, colours, signs and the clipboard."""

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cacheroute_cli.doctor.check import Check, ok, warn

FULL = (80, 24)
LEAST = (60, 16)
_TMUX_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """What we stand before."""

    is_terminal: bool
    columns: int
    rows: int
    encoding: str
    environ: Mapping[str, str]
    tmux_clipboard: str | None = None
    """What tmux says of its `set-clipboard`; None outside of it."""


def check_terminal(terminal: Terminal) -> Iterator[Check]:
    """Look at stdout and at what its environment says."""
    if not terminal.is_terminal:
        yield ok("terminal", "stdout is no terminal, so there is nothing to see to")
        return
    yield _size(terminal)
    yield _colours(terminal)
    if terminal.encoding.lower().replace("-", "").startswith("utf8"):
        yield ok("signs", f"{terminal.encoding}: all signs can be shown")
    else:
        sentence = f"{terminal.encoding or 'unknown encoding'}: signs are shown as letters"
        yield warn("signs", sentence, "set LANG to a UTF-8 locale, such as C.UTF-8")
    yield _clipboard(terminal)


def _size(terminal: Terminal) -> Check:
    size = (terminal.columns, terminal.rows)
    name = f"{terminal.columns}x{terminal.rows}"
    if size[0] < LEAST[0] or size[1] < LEAST[1]:
        way_out = f"make it {FULL[0]}x{FULL[1]} or larger"
        return warn("terminal", f"{name} has room for one line per Instance", way_out)
    if size[0] < FULL[0] or size[1] < FULL[1]:
        way_out = f"make it {FULL[0]}x{FULL[1]} or larger to see all"
        return warn("terminal", f"{name} has no room for every column", way_out)
    return ok("terminal", name)


def _colours(terminal: Terminal) -> Check:
    environ = terminal.environ
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR"):
        return ok("colours", "off, as NO_COLOR is set; words and signs say the same")
    if term in ("", "dumb"):
        return warn("colours", f"TERM is {term or 'not set'}: no colours and no redrawing",
                    "set TERM to what the terminal is, such as xterm-256color")  # fmt: skip
    if environ.get("COLORTERM") in ("truecolor", "24bit"):
        return ok("colours", "16 million")
    return ok("colours", "256" if "256" in term or "direct" in term else "16")


def _clipboard(terminal: Terminal) -> Check:
    environ = terminal.environ
    if terminal.tmux_clipboard == "off":
        return warn("clipboard", "tmux passes on no OSC 52: what is copied goes to a file",
                    "tmux set -s set-clipboard on")  # fmt: skip
    if environ.get("TERM_PROGRAM") == "Apple_Terminal" or environ.get("VTE_VERSION"):
        return warn("clipboard", "this terminal knows no OSC 52: what is copied goes to a file")
    if terminal.tmux_clipboard is not None:
        return ok("clipboard", f"OSC 52 through tmux (set-clipboard {terminal.tmux_clipboard})")
    if environ.get("STY"):
        return warn("clipboard", "screen passes on no OSC 52: what is copied goes to a file")
    return ok("clipboard", "OSC 52, as far as this terminal knows it")


def ask_tmux(environ: Mapping[str, str]) -> str | None:
    """Return what tmux says of its clipboard; None outside of it, or when it does not say."""
    if not environ.get("TMUX"):
        return None
    argv = ["tmux", "show-options", "-sv", "set-clipboard"]
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=_TMUX_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
