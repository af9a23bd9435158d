"""`python -m cacheroute.agent`: exits 0 when told to stop, 2 on a bad option, 5 on a taken port."""

import asyncio
import os
import signal
import sys
import time

from cacheroute.agent.options import Options, parse_options
from cacheroute.core.clock import Instant
from cacheroute.member.complaint import complain, remark

EXIT_CANNOT_LISTEN = 5


class SystemClock:
    """The clocks of this machine."""

    def now(self) -> Instant:
        """Read both clocks."""
        return Instant(mono_s=time.monotonic(), wall_s=time.time())


def main() -> int:
    """Run the agent; returns its exit code."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, _leave_early)
    options = parse_options(sys.argv[1:], os.environ)
    if not (options.host.startswith("127.") or options.host in ("::1", "localhost")):
        remark(f"anyone who can reach {options.host} can read this host's load")
    return asyncio.run(_run(options))


async def _run(options: Options) -> int:
    from cacheroute.agent.app import CannotListen, serve  # a bad option needs none of it

    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stopping.set)
    try:
        await serve(options, clock=SystemClock(), stopping=stopping, on_listening=_announce)
    except CannotListen as error:
        return complain(str(error), code="process.conflict", exit_code=EXIT_CANNOT_LISTEN)
    return 0


def _announce(url: str) -> None:
    sys.stdout.write(f"listening on {url}\n")
    sys.stdout.flush()


def _leave_early(_signal: int, _frame: object) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main())
