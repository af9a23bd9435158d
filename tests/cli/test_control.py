"""The client's faults as ours: each with its exit and its way out."""

import pytest

from cacheroute.client.faults import (
    ControlFault,
    NotUnderstood,
    Refused,
    TimedOut,
    Unreachable,
)
from cacheroute_cli.context import Context
from cacheroute_cli.control import control_client
from cacheroute_cli.diagnostics import Exit, Fault

URL = "http://127.0.0.1:8002/healthz"


@pytest.mark.parametrize(
    ("fault", "code", "exit_code"),
    [
        (Unreachable(url=URL, cause="connection refused"), "proxy.unreachable", Exit.UNREACHABLE),
        (TimedOut(url=URL, timeout_s=5), "proxy.timeout", Exit.UNREACHABLE),
        (Refused(url=URL, status=401, body=""), "proxy.forbidden", Exit.NOT_ALLOWED),
        (Refused(url=URL, status=403, body=""), "proxy.forbidden", Exit.NOT_ALLOWED),
        (Refused(url=URL, status=404, body=""), "proxy.refused", Exit.FAILED),
        (NotUnderstood(url=URL, why="x"), "proxy.not_understood", Exit.NOT_UNDERSTOOD),
        (ControlFault("odd", url=URL), "failed", Exit.FAILED),
    ],
)
def test_every_fault_has_its_code_and_names_what_was_asked(
    fault: ControlFault, code: str, exit_code: Exit
) -> None:
    with pytest.raises(Fault) as caught, control_client(Context()):
        raise fault

    assert (caught.value.code, caught.value.exit) == (code, exit_code)
    assert caught.value.details["url"] == URL


def test_a_proxy_nobody_named_may_simply_not_run() -> None:
    fault = Unreachable(url=URL, cause="x")

    with pytest.raises(Fault) as caught, control_client(Context(proxy_url_is_default=True)):
        raise fault
    assert "--proxy-url" in (caught.value.hint or "")

    with pytest.raises(Fault) as caught, control_client(Context(proxy_url_is_default=False)):
        raise fault
    assert "--proxy-url" not in (caught.value.hint or "")
