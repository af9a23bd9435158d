"""An operator's changes, as both clients send them, to a Proxy that runs."""

import asyncio
import json
import socket

import pytest

from cacheroute.client.control import AsyncControlClient, ControlClient
from cacheroute.client.faults import Refused
from cacheroute.wire.admin import ChangeBody, DrainBody, StrategyBody, WeightBody
from tests.cacheroute.client.canned import a_peer, answer
from tests.support.proxy import RunningProxy, running_proxy

ONE = ["i-1"]


async def two(proxy: RunningProxy) -> None:
    for number in (1, 2):
        await proxy.register(host="127.0.0.1", port=9000 + number, instance_id=f"i-{number}")


async def test_every_change_is_understood_by_the_proxy_and_its_answer_by_us() -> None:
    async with running_proxy() as proxy, AsyncControlClient(proxy.control_url) as client:
        await two(proxy)
        drained = await client.drain(DrainBody(instance_ids=ONE, reason="r"))
        assert (drained.changes[0].after.draining, drained.left_ids) == (True, ["i-2"])
        assert drained.kept
        undrained = await client.undrain(ChangeBody(instance_ids=ONE))
        assert undrained.left_count == 2
        weighed = await client.weigh(WeightBody(instance_ids=ONE, weight=2))
        assert weighed.changes[0].after.weight == 2.0
        assert [row.weight for row in await client.instances()] == [2.0, 1.0]
        reset = await client.weigh(WeightBody(instance_ids=ONE, weight=None))
        assert reset.changes[0].after.weight == 1.0
        changed = await client.use_strategy(StrategyBody(name="ll"))
        assert (changed.before, changed.after) == ("round_robin", "least_load")
        assert (await client.strategies()).strategy == "least_load"
        dropped = await client.drop(ChangeBody(instance_ids=ONE))
        assert dropped.changes[0].after.state == "gone"
        assert [row.instance_id for row in await client.instances()] == ["i-2"]


async def test_the_client_that_waits_does_the_same() -> None:
    async with running_proxy() as proxy:
        await two(proxy)

        def work() -> list[object]:
            with ControlClient(proxy.control_url, user="kim@desk") as client:
                return [
                    client.drain(DrainBody(instance_ids=ONE)).left_ids,
                    client.undrain(ChangeBody(instance_ids=ONE)).left_count,
                    client.weigh(WeightBody(instance_ids=ONE, weight=0)).left_ids,
                    client.weigh(WeightBody(instance_ids=ONE, weight=None)).left_count,
                    client.use_strategy(StrategyBody(name="ll", dry_run=True)).changed,
                    client.strategies().strategy,
                    client.drop(ChangeBody(instance_ids=ONE, dry_run=True)).left_ids,
                ]

        told = await asyncio.to_thread(work)
    assert told == [["i-2"], 2, ["i-2"], 2, True, "round_robin", ["i-2"]]


async def test_a_refused_change_carries_the_proxys_word_for_it() -> None:
    async with running_proxy() as proxy, AsyncControlClient(proxy.control_url) as client:
        with pytest.raises(Refused) as caught:
            await client.drain(DrainBody(instance_ids=ONE))
    assert (caught.value.status, caught.value.code) == (404, "unknown_instance")
    assert "There is no Instance i-1" in caught.value.body


@pytest.mark.parametrize("user", ["kim@desk", "kïm\n@desk\x07"])
def test_who_asks_is_said_in_a_header_that_nothing_can_get_out_of(user: str) -> None:
    requests: list[bytes] = []

    def reply(request: bytes, connection: socket.socket) -> None:
        requests.append(request)
        connection.sendall(answer(b'{"error":"unknown_instance","detail":"no"}', status="404 x"))

    with a_peer(reply) as url, ControlClient(url, user=user) as client, pytest.raises(Refused):
        client.weigh(WeightBody(instance_ids=ONE, weight=None))

    head, _, body = requests[0].partition(b"\r\n\r\n")
    told = next(line for line in head.lower().split(b"\r\n") if b"@desk" in line)
    assert told.startswith(b"x-cacheroute-user: k")
    assert json.loads(body) == {
        "instance_ids": ["i-1"], "dry_run": False, "force": False, "weight": None,
    }  # fmt: skip
