"""A client that was built to look sends nothing that could change something."""

import pytest

from cacheroute.client.control import AsyncControlClient, ControlClient
from cacheroute.client.faults import ControlFault, ReadOnly, Unreachable
from cacheroute.client.guard import MutationGuard
from cacheroute.wire.admin import ChangeBody, DrainBody, StrategyBody, WeightBody
from cacheroute.wire.instances import UnregisterBody
from tests.cacheroute.client.canned import a_peer_saying, answer
from tests.cacheroute.client.test_control import a_dead_url

SOME = ["i-1"]


def test_questions_pass_and_changes_where_they_are_allowed() -> None:
    MutationGuard(readonly=True).check("GET", "http://x/debug")
    MutationGuard(readonly=False).check("POST", "http://x/drain")
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        with pytest.raises(ReadOnly, match="http://x/drain"):
            MutationGuard(readonly=True).check(method, "http://x/drain")


def test_a_read_only_client_sends_no_change_whoever_asks() -> None:
    # Nobody listens there: what is sent all the same ends in another fault.
    with ControlClient(a_dead_url(), readonly=True) as client:
        for change in (
            lambda: client.drain(DrainBody(instance_ids=SOME)),
            lambda: client.undrain(ChangeBody(instance_ids=SOME)),
            lambda: client.weigh(WeightBody(instance_ids=SOME, weight=None)),
            lambda: client.drop(ChangeBody(instance_ids=SOME, dry_run=True)),
            lambda: client.use_strategy(StrategyBody(name="rr")),
            lambda: client.unregister(UnregisterBody(instance_id="i-1")),
        ):
            with pytest.raises(ReadOnly):
                change()
        with pytest.raises(Unreachable):
            client.strategies()


async def test_the_async_client_sends_none_either() -> None:
    async with AsyncControlClient(a_dead_url(), readonly=True) as client:
        with pytest.raises(ReadOnly) as caught:
            await client.drain(DrainBody(instance_ids=SOME))
        with pytest.raises(Unreachable):
            await client.strategies()

    assert isinstance(caught.value, ControlFault)


def test_a_read_only_client_looks_all_the_same() -> None:
    with (
        a_peer_saying(answer(b'{"ok":true,"ttl_s":30}')) as url,
        ControlClient(url, readonly=True) as client,
    ):
        assert client.health().ok
