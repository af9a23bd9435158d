"""A yes before something is changed: who asks is told the effect, and silence is a no."""

import sys

from cacheroute.console.cells import printable
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import Fault, UsageFault

_YES = frozenset(("y", "yes"))


class NotConfirmed(Fault):
    """Somebody was asked, and did not say yes."""

    code = "change.not_confirmed"


def require_yes(context: Context, effect: str) -> None:
    """Ask whether to go on; raises NotConfirmed, or UsageFault where nobody can be asked."""
    if context.no_input or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageFault(
            f"this needs a yes, and nobody can be asked here: {effect}",
            hint="add -y to do it all the same",
        )
    where = f"[{context.label or context.name}] " if context.label or context.name else ""
    sys.stderr.write(printable(f"{where}{effect}. Go on? [y/N] "))
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in _YES:
        raise NotConfirmed("not confirmed, and nothing was changed")
