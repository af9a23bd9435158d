"""The command `status`: what it shows, and what makes it end with 6."""

from collections.abc import Sequence
from typing import Literal

from cacheroute.console.overview import Overview, lines_of
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.views import LinesView

Check = Literal["healthy", "accepting"]


class CheckFailed(Fault):
    """The Proxy answered, and it is not as it should be."""

    code = "status.check"
    exit = Exit.BAD_ANSWER


def status_view(overview: Overview, context: Context, notes: Sequence[str]) -> LinesView:
    """Return what `status` prints."""
    return LinesView(
        lines=lines_of(overview),
        schema="cacheroute.status/1",
        content={"context": context.name, "status": overview},
        notes=notes,
    )


def require(check: Check, overview: Overview) -> None:
    """Raise CheckFailed, with the reason, unless it is so."""
    why = _why_not(check, overview)
    if why is not None:
        raise CheckFailed(f"not {check}: {why}", check=check)


def _why_not(check: Check, overview: Overview) -> str | None:
    if overview.draining:
        return "the Proxy is draining"
    if not overview.alive:
        return "no Instance is alive"
    if check == "accepting" and overview.admission_state != "accepting":
        state = overview.admission_state or "unknown"
        reason = f" ({overview.admission_reason})" if overview.admission_reason else ""
        return f"the pool is {state}{reason}"
    return None
