"""`python -m cacheroute_tui`: the console in this terminal, or one picture of it on stdout."""

import argparse
import gc
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import Exit, Fault, UsageFault, note, report_fault
from cacheroute_tui import terminal
from cacheroute_tui.options import TuiOptions
from cacheroute_tui.starting import Typed, options_of

if TYPE_CHECKING:
    from cacheroute_tui.app import ConsoleApp

_SIZE = re.compile(r"(\d{1,3})x(\d{1,3})")
_THEMES = ("auto", "dark", "light", "ansi", "cb", "mono", "high-contrast")
SCREEN_NAMES = (
    "overview", "instances", "resources", "queues", "scores", "topology", "traces", "processes",
    "raw",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the console; returns the exit code."""
    asked = _parser().parse_args(arguments)
    environ = os.environ
    # Most of what is loaded stays for good, and looking through it again and again takes a tenth
    # of the start; the app turns it on again when it has drawn.
    gc.disable()
    terminal.prepare(environ)
    try:
        return _run(asked, environ)
    except Fault as fault:
        if fault.exit != Exit.BROKEN_PIPE:
            report_fault(fault, as_json=False)
        return fault.exit
    except Exception as problem:
        from cacheroute_cli.crash import report_crash

        return report_crash(problem, as_json=False)


def _run(asked: argparse.Namespace, environ: Mapping[str, str]) -> int:
    source = None
    if asked.demo:
        source = f"demo:{asked.seed}"
    elif asked.replay:
        source = f"replay:{asked.replay}"
    given = Given(
        context=asked.context,
        proxy_url=asked.proxy_url,
        timeout_s=asked.timeout,
        config_file=asked.config,
        ascii=asked.ascii or None,
    )
    typed = Typed(
        screen=asked.screen,
        interval_s=asked.interval,
        theme=asked.theme,
        write=asked.write,
        mouse=False if asked.no_mouse else None,
        source=source,
    )
    options = options_of(given, typed, environ)
    size = _size_of(asked.size)
    if asked.once:
        from cacheroute_tui.once import print_once

        # A toast would stand over what is to be seen.
        for doubt in options.doubts:
            note(f"cacheroute: note: {doubt}")
        options = replace(options, doubts=())
        return print_once(_app(options, environ, is_asked=False), size=size, svg=asked.svg)
    if not terminal.is_interactive(environ):
        raise UsageFault(
            "the console needs a terminal", hint="'cacheroute status' and 'cacheroute tui --once' "
            "print the same without one",
        )  # fmt: skip
    app = _app(options, environ, is_asked=True)
    with terminal.screen_of_stdout():
        code = app.run(mouse=options.mouse)
    if app.bug is not None:
        raise app.bug
    return app.return_code or 0 if code is None else code


def _app(options: TuiOptions, environ: Mapping[str, str], *, is_asked: bool) -> "ConsoleApp":
    from cacheroute_tui.app import ConsoleApp
    from cacheroute_tui.clock import SystemClock
    from cacheroute_tui.opening import REPLAY, open_source

    if options.theme == "auto":
        is_light = terminal.is_background_light() if is_asked else None
        options = replace(options, theme=terminal.theme_for(environ, is_light=is_light))
    try:
        return ConsoleApp(options, connect=open_source, clock=SystemClock())
    except ValueError as problem:
        # Only a recording is opened before the first look, and it names itself.
        raise UsageFault(str(problem)) from None
    except OSError as problem:
        what = options.target.proxy_url.removeprefix(REPLAY)
        reason = (problem.strerror or str(problem)).lower()
        raise UsageFault(f"{what} cannot be shown ({reason})") from None


def _size_of(text: str) -> tuple[int, int]:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise UsageFault(f"--size is such as 80x24, not {text!r}")
    return int(found[1]), int(found[2])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="cacheroute tui", add_help=True, allow_abbrev=False)
    add = parser.add_argument
    add("--screen", choices=SCREEN_NAMES)
    add("-i", "--interval", type=float)
    add("--theme", choices=_THEMES)
    add("--write", action="store_true")
    add("--no-mouse", action="store_true")
    add("--ascii", action="store_true")
    add("--once", action="store_true")
    add("--size", default="80x24")
    add("--svg")
    add("--demo", action="store_true")
    add("--seed", type=int, default=7)
    add("--replay")
    add("-c", "--context")
    add("--proxy-url")
    add("--timeout", type=float)
    add("--config")
    return parser


if __name__ == "__main__":
    code = main()
    if code != Exit.OK:
        sys.exit(code)
