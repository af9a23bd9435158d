"""`python -m cacheroute.agent`: exits 0 when told to stop, 2 on a bad option, 5 on a taken port."""

import asyncio
import os
import signal
import sys
import time

from cacheroute.agent.options import Options, parse_options
from cacheroute.core.clock import Instant
from cacheroute.formats.address import is_loopback
from cacheroute.member.complaint import remark
from cacheroute.member.listeners import CannotListen
from cacheroute.member.running import announce, leave_quietly_on_signals, tell_cannot_listen


class SystemClock:
    """The clocks of this machine."""

    def now(self) -> Instant:
        """Read both clocks."""
        return Instant(mono_s=time.monotonic(), wall_s=time.time())


def main() -> int:
    """Run the agent; returns its exit code."""
    leave_quietly_on_signals()
    options = parse_options(sys.argv[1:], os.environ)
    if not is_loopback(options.host):
        remark(f"anyone who can reach {options.host} can read this host's load")
    return asyncio.run(_run(options))


async def _run(options: Options) -> int:
    from cacheroute.agent.app import serve  # a bad option needs none of it

    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stopping.set)
    try:
        await serve(options, clock=SystemClock(), stopping=stopping, on_listening=_announce)
    except CannotListen as error:
        return tell_cannot_listen(error)
    return 0


def _announce(url: str) -> None:
    announce(f"listening on {url}")


if __name__ == "__main__":
    sys.exit(main())
