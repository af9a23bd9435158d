"""What the terminal is like, asked before the console takes it over.

Nothing here loads the toolkit: it reads its environment when it is imported, so that has to be
as it should be before.
"""

import os
import re
import select
import sys
import termios
import time
import tty
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager

_ASK_BACKGROUND = b"\x1b]11;?\x1b\\"
_ASK_WHO = b"\x1b[c"
"""Every terminal answers this one, so its answer tells that no other will come."""
_WHO = re.compile(rb"\x1b\[\?[\d;]*c")
_BACKGROUND = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]+)/([0-9a-fA-F]+)/([0-9a-fA-F]+)")
_ANSWER_WITHIN_S = 0.25
_LIGHT_FROM = 0.5
_LIGHT_COLORS = frozenset(("7", "15"))
_REMOTE_FPS = "30"
_STDOUT, _STDERR = 1, 2


def prepare(environ: MutableMapping[str, str]) -> None:
    """Set what the toolkit reads while it is imported."""
    environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    # Where a shell has exported them they outrank the terminal, and no resize is seen.
    environ.pop("COLUMNS", None)
    environ.pop("LINES", None)
    if "SSH_CONNECTION" in environ or "SSH_TTY" in environ:
        environ.setdefault("TEXTUAL_FPS", _REMOTE_FPS)


def is_interactive(environ: Mapping[str, str]) -> bool:
    """Whether a screen can be drawn, and keys can be read."""
    return sys.stdin.isatty() and sys.stdout.isatty() and environ.get("TERM") != "dumb"


@contextmanager
def screen_of_stdout() -> Iterator[None]:
    """Draw on the terminal of stdout meanwhile, also where stderr goes to a file.

    The toolkit draws on stderr, and `2>errors.txt` is a habit of those who look for errors.
    """
    if os.isatty(_STDERR):
        yield
        return
    kept = os.dup(_STDERR)
    os.dup2(_STDOUT, _STDERR)
    try:
        yield
    finally:
        os.dup2(kept, _STDERR)
        os.close(kept)


def theme_for(environ: Mapping[str, str], *, is_light: bool | None) -> str:
    """Choose the theme of `auto`; `is_light` is what the terminal said of its background."""
    if environ.get("NO_COLOR"):
        return "mono"
    if environ.get("TERM") == "linux":
        return "ansi"
    if is_light is None:
        _, _, background = environ.get("COLORFGBG", "").rpartition(";")
        is_light = background in _LIGHT_COLORS
    return "light" if is_light else "dark"


def is_background_light() -> bool | None:
    """Ask the terminal for its background; None when it does not say."""
    try:
        with open("/dev/tty", "r+b", buffering=0) as terminal:
            return background_is_light(_asked(terminal.fileno()))
    except (OSError, termios.error):
        return None


def background_is_light(answer: bytes) -> bool | None:
    """Read the answer of a terminal; None when it tells no colour."""
    found = _BACKGROUND.search(answer)
    if found is None:
        return None
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    return bool(0.299 * red + 0.587 * green + 0.114 * blue > _LIGHT_FROM)


def _asked(fd: int) -> bytes:
    """Ask, and read until all has been answered, or for a quarter of a second."""
    before = termios.tcgetattr(fd)
    answer = b""
    try:
        tty.setcbreak(fd, termios.TCSANOW)
        os.write(fd, _ASK_BACKGROUND + _ASK_WHO)
        until_s = time.monotonic() + _ANSWER_WITHIN_S
        # What comes late would be taken for keys, so the last answer is waited for.
        while not _WHO.search(answer) and (left_s := until_s - time.monotonic()) > 0:
            if not select.select([fd], [], [], left_s)[0]:
                break
            answer += os.read(fd, 1024)
    finally:
        termios.tcsetattr(fd, termios.TCSANOW, before)
    return answer
