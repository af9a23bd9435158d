"""`python -m cacheroute_cli.completing SHELL ...`: what a shell runs at each press of the tab key.

Never an error: a shell has no place to show one.
"""

import sys
from collections.abc import Sequence

from cacheroute_cli.completing.answer import for_bash, for_fish, for_zsh
from cacheroute_cli.supervisor.state import state_root


def main(arguments: Sequence[str]) -> int:
    """Print what may stand at the cursor."""
    folder = state_root() / "completion"
    match list(arguments):
        case ["bash", breaks, line]:
            lines = for_bash(line, breaks, folder)
        case ["zsh", *words] if words:
            lines = for_zsh(words, folder)
        case ["fish", line]:
            lines = for_fish(line, folder)
        case _:
            return 2
    sys.stdout.write("".join(line + "\n" for line in lines))
    return 0


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except Exception:
        code = 1
    sys.exit(code)
