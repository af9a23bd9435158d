"""`python -m cacheroute_cli.supervisor NAME STATE_FOLDER`: a supervisor in the background."""

import os
import sys
import time
from pathlib import Path

from cacheroute_cli.diagnostics import Fault, note, report_fault
from cacheroute_cli.supervisor.serving import supervise
from cacheroute_cli.supervisor.stack_home import StackHome


def main(arguments: list[str]) -> int:
    """Supervise a stack; what a fault says goes to stderr, which is the supervisor's log."""
    name, root = arguments
    home = StackHome(name, Path(root))

    def say(text: str) -> None:
        note(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}")

    say(f"supervising stack {name} as pid {os.getpid()}")
    try:
        code = supervise(home, say=say)
    except Fault as fault:
        report_fault(fault, as_json=False)
        return fault.exit
    say(f"done, exit {code}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
