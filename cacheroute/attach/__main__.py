"""`python -m cacheroute.attach --endpoint http://HOST:PORT`: exits 0 when told to stop.

It prints one line, `attached ID at URL to PROXY`, once the server is in the pool. Before that
it ends with 2 on a bad option or another model, 3 when nobody answers, 5 when the Proxy has
the address already, 8 when a key is missing, 9 when the server is of another kind.
"""

import asyncio
import os
import signal
import sys

from cacheroute.attach.faults import AttachFault
from cacheroute.attach.options import AttachOptions, parse_options
from cacheroute.member.complaint import complain
from cacheroute.member.running import announce, leave_quietly_on_signals


def main() -> int:
    """Attach one server until a signal; returns the exit code."""
    leave_quietly_on_signals()
    options = parse_options(sys.argv[1:], os.environ)
    return asyncio.run(_run(options))


async def _run(options: AttachOptions) -> int:
    from cacheroute.attach.attachment import attach  # a bad option needs none of it

    loop, this = asyncio.get_running_loop(), asyncio.current_task()
    assert this is not None, "this runs as a task"  # noqa: S101
    for each in (signal.SIGINT, signal.SIGTERM):
        # Everything is held by context managers: to be cancelled is to leave the pool.
        loop.add_signal_handler(each, this.cancel)
    try:
        await attach(options, on_attached=announce)
    except AttachFault as fault:
        return complain(str(fault), code=fault.code, exit_code=fault.exit_code, hint=fault.hint)
    except asyncio.CancelledError:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
