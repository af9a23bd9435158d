"""Waiting for what was drained, and what the Proxy objects to as faults of ours."""

import pytest

from cacheroute.client.faults import Refused
from cacheroute.wire.admin import ChangeBody, DrainBody
from cacheroute_cli import operating
from cacheroute_cli.context import Context
from cacheroute_cli.control import WriteRefused
from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.operating import Undrained, operator_client, wait_until_drained
from tests.cli.live_proxy import live_proxy


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (404, "unknown_instance", ("instance.unknown", Exit.NOT_FOUND)),
        (422, "unknown_strategy", ("usage", Exit.USAGE)),
        (409, "nobody_left", ("change.refused", Exit.FAILED)),
        (409, "static_instance", ("change.refused", Exit.FAILED)),
        (503, "too_many_orders", ("change.refused", Exit.FAILED)),
        (404, "not_found", ("proxy.not_understood", Exit.NOT_UNDERSTOOD)),
        (404, None, ("proxy.not_understood", Exit.NOT_UNDERSTOOD)),
        (403, "forbidden", ("proxy.forbidden", Exit.NOT_ALLOWED)),
        (500, "internal_error", ("proxy.refused", Exit.FAILED)),
    ],
)
def test_every_objection_has_its_exit(
    status: int, code: str | None, expected: tuple[str, Exit]
) -> None:
    refused = Refused(url="http://p/x", status=status, body=f"{code}: Some reason.", code=code)
    with pytest.raises(Fault) as caught, operator_client(Context()):
        raise refused

    assert (caught.value.code, caught.value.exit) == expected


def test_a_read_only_context_has_a_client_that_sends_nothing() -> None:
    context = Context(readonly=True, name="lab", proxy_url="http://127.0.0.1:1")
    with pytest.raises(WriteRefused) as caught, operator_client(context) as client:
        client.undrain(ChangeBody(instance_ids=["i-1"]))

    assert (caught.value.exit, caught.value.message) == (
        Exit.NOT_ALLOWED,
        "the context lab is read-only, and nothing was sent",
    )


def test_a_wait_ends_badly_when_somebody_takes_the_drain_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        proxy.occupy("i-1")
        with operator_client(Context(proxy_url=proxy.url)) as client:
            reply = client.drain(DrainBody(instance_ids=["i-1"]))
            client.undrain(ChangeBody(instance_ids=["i-1"]))
            with pytest.raises(Undrained, match="i-1 takes requests again"):
                wait_until_drained(client, reply, timeout_s=None)
        proxy.release()


def test_one_that_leaves_meanwhile_has_nothing_running() -> None:
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        proxy.occupy("i-1")
        with operator_client(Context(proxy_url=proxy.url)) as client:
            reply = client.drain(DrainBody(instance_ids=["i-1"]))
            client.drop(ChangeBody(instance_ids=["i-1"]))
            [change] = wait_until_drained(client, reply, timeout_s=None)
        proxy.release()

    assert (change.inflight, change.before.state, change.changed) == (0, "alive", True)


def test_nobody_is_asked_again_when_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operating, "_LOOK_EACH_S", ())
    with live_proxy() as proxy:
        proxy.register("i-1", "i-2")
        with operator_client(Context(proxy_url=proxy.url)) as client:
            reply = client.drain(DrainBody(instance_ids=["i-1"]))
        # The client is closed: another question would fail.
        assert wait_until_drained(client, reply, timeout_s=0.0) == reply.changes
