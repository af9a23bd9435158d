"""A client that has closed its sending side is asked whether it is still there.

With real clients that wait, leave and reset: see `test_connection_leaving`.
"""

import asyncio

from cacheroute.dataplane.half_close import HalfCloseProbe
from tests.cacheroute.dataplane.wire_parts import hold, serving
from tests.support.client import connected


async def test_a_client_is_asked_once_and_only_before_its_answer_has_begun() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        transport = served.connection._transport
        probe = HalfCloseProbe(transport, asyncio.get_running_loop())
        probe.watch(inbound)
        probe._ask()
        got = await client.until(lambda answer: answer.interim)
        inbound.start(200)
        inbound.write(b"x")
        probe._ask()
        probe.stop()
        inbound.finish()
        await client.over()
        assert len(got.interim) == 1


async def test_a_probe_that_is_stopped_says_and_does_nothing_more() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        probe = HalfCloseProbe(served.connection._transport, asyncio.get_running_loop())
        probe.watch(inbound)
        probe.stop()
        assert probe._timer is None
        inbound.respond(200, (), b"x")
        assert not (await client.over()).interim


async def test_nobody_is_asked_while_nothing_is_being_answered() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.ask()
        inbound = await served.request()
        probe = HalfCloseProbe(served.connection._transport, asyncio.get_running_loop())
        probe.watch(None)
        probe._ask()
        inbound.respond(200, (), b"x")
        assert not (await client.over()).interim
