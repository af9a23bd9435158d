"""From a target to a source: a Proxy over the network, a recording, or a simulated fleet."""

from cacheroute.client.control import AsyncControlClient
from cacheroute.console.source import Source
from cacheroute.sources.live import LiveSource
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
        )
    )
