"""`python -m cacheroute_tui.web.console`: one console, for the browser that it was started for.

It speaks to a driver and has no terminal, so nothing of a terminal is asked; and there is no
option by which it could change anything.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import Exit, Fault, report_fault
from cacheroute_tui.starting import Typed, options_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the console until its browser leaves; returns the exit code."""
    asked = _parser().parse_args(arguments)
    # Its size stands in the environment, unlike that of a terminal.
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    source = f"demo:{asked.seed}" if asked.demo else None
    if asked.replay:
        source = f"replay:{asked.replay}"
    given = Given(
        context=asked.context,
        proxy_url=asked.proxy_url,
        timeout_s=asked.timeout,
        config_file=asked.config,
        ascii=False,
    )
    try:
        options = options_of(given, Typed(source=source), os.environ)
    except Fault as fault:
        report_fault(fault, as_json=False)
        return fault.exit
    theme = "dark" if options.theme == "auto" else options.theme
    options = replace(
        options,
        theme=theme,
        write=False,
        clipboard="osc52",
        target=replace(options.target, readonly=True),
        targets=tuple(replace(one, readonly=True) for one in options.targets),
    )

    from cacheroute_tui.app import ConsoleApp
    from cacheroute_tui.clock import SystemClock
    from cacheroute_tui.opening import open_source

    app = ConsoleApp(options, connect=open_source, clock=SystemClock())
    code = app.run()
    if app.bug is not None:
        from cacheroute_cli.crash import report_crash

        return report_crash(app.bug, as_json=False)
    return code or 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="cacheroute web", allow_abbrev=False)
    add = parser.add_argument
    add("--demo", action="store_true")
    add("--seed", type=int, default=7)
    add("--replay")
    add("--context")
    add("--proxy-url")
    add("--timeout", type=float)
    add("--config")
    return parser


if __name__ == "__main__":
    code = main()
    if code != Exit.OK:
        sys.exit(code)
