"""A control plane over a simulated fleet, for a console that looks at it over the network.

`python -m tests.tui.big_proxy INSTANCES` writes its port and serves until its input ends. How
often the pool was looked at stands at `/looks`.
"""

import asyncio
import sys

from cacheroute.console.source import SourceFault
from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.server import HttpServer
from cacheroute.sources.simulated.source import SimulatedSource
from cacheroute.wire import paths

_JSON = ((b"content-type", b"application/json"),)


class BigProxy:
    """Answers as a Proxy would, as far as a simulation has it."""

    def __init__(self, instances: int) -> None:
        self._source = SimulatedSource(instances=instances)
        self._answers: set[asyncio.Task[None]] = set()
        self._looks = 0
        self.server = HttpServer(self._on_request)

    def _on_request(self, inbound: Inbound) -> None:
        answer = asyncio.get_running_loop().create_task(self._answer(inbound))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer(self, inbound: Inbound) -> None:
        self._looks += inbound.path == paths.CONSOLE_SNAPSHOT
        if inbound.path == "/looks":
            inbound.respond(200, _JSON, b"%d" % self._looks)
            return
        try:
            body = await self._source.raw(f"{inbound.path}?{inbound.query.decode()}")
        except SourceFault:
            inbound.respond(404, _JSON, b'{"error":"not_found"}')
        else:
            inbound.respond(200, _JSON, body)


async def main() -> None:
    """Serve."""
    proxy = BigProxy(int(sys.argv[1]))
    await proxy.server.start("127.0.0.1", 0)
    sys.stdout.write(f"{proxy.server.port}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    await proxy.server.stop(grace_s=1.0)


if __name__ == "__main__":
    asyncio.run(main())
