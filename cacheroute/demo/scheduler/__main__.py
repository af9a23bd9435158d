"""Runs one demo Scheduler until a signal.

It prints two lines, `listening on http://HOST:PORT` for clients and `control on
http://HOST:PORT` for Proxies, and exits 0 when told to stop, 2 on a bad option, 5 when it
cannot listen.
"""

import asyncio
import gc
import os
import sys
from collections.abc import Callable

from cacheroute.demo.scheduler.options import SchedulerOptions, parse_options
from cacheroute.demo.scheduler.scheduler import Scheduler
from cacheroute.formats.address import Address
from cacheroute.member.running import announce, run_until_signal


def main() -> int:
    """Run one Scheduler; returns the exit code."""
    options = parse_options(sys.argv[1:], os.environ)
    return run_until_signal(
        lambda stopping: serve(options, stopping=stopping, on_listening=_announce)
    )


async def serve(
    options: SchedulerOptions,
    *,
    stopping: asyncio.Event,
    on_listening: Callable[[Scheduler], None],
) -> None:
    """Serve until `stopping` is set; raises CannotListen."""
    scheduler = Scheduler(options)
    await scheduler.open()
    try:
        async with asyncio.TaskGroup() as group:
            reading = scheduler.read_on(group)
            await scheduler.first_reading()
            on_listening(scheduler)
            gc.freeze()
            await stopping.wait()
            for task in reading:
                task.cancel()
    finally:
        await scheduler.close()


def _announce(scheduler: Scheduler) -> None:
    service = Address(scheduler.options.host, scheduler.port)
    control = Address(scheduler.cp_host, scheduler.cp_port)
    announce(f"listening on http://{service.authority}\ncontrol on http://{control.authority}")


if __name__ == "__main__":
    sys.exit(main())
