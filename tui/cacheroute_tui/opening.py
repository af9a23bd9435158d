"""From a target to a source: a Proxy over the network, a recording, or a simulated fleet."""

from cacheroute.client.control import AsyncControlClient
from cacheroute.console.source import Source
from cacheroute.sources.live import LiveSource, TokenPlace
from cacheroute_cli.config.tokens import read_token
from cacheroute_cli.context import TOKEN_VARIABLE
from cacheroute_tui.options import Target

DEMO, REPLAY = "demo:", "replay:"


def open_source(target: Target, may_write: bool) -> Source:
    """Open it; nothing is asked yet. Raises OSError or ValueError for a recording."""
    where = target.proxy_url
    if where.startswith(DEMO):
        from cacheroute.sources.simulated.source import SimulatedSource

        return SimulatedSource(seed=int(where.removeprefix(DEMO) or 0))
    if where.startswith(REPLAY):
        from cacheroute.sources.replay import ReplaySource

        return ReplaySource.open(where.removeprefix(REPLAY))
    return LiveSource(
        AsyncControlClient(
            where, token=target.token, timeout_s=target.timeout_s, readonly=not may_write
        ),
        token_place=_token_place(target),
    )


def _token_place(target: Target) -> TokenPlace | None:
    if target.token_origin is None:
        return None
    if target.token_origin == TOKEN_VARIABLE:
        # What was typed comes by the variable as well, for others could read a command line.
        return TokenPlace(name=f"--token or {TOKEN_VARIABLE}")
    return TokenPlace(name=target.token_origin, read=lambda: token_now(target))


def token_now(target: Target) -> str | None:
    """Return the token as its file holds it now; where that cannot be read, as it was."""
    if target.token_file is None:
        return target.token
    try:
        return read_token(target.token_file)
    except ValueError:
        return target.token
