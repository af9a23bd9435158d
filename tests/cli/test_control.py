"""The client's faults as ours: each with its exit and its way out."""

from pathlib import Path

import pytest

from cacheroute.client.faults import (
    ControlFault,
    NotUnderstood,
    Refused,
    TimedOut,
    Unreachable,
)
from cacheroute_cli.completing.seen import Seen, recall
from cacheroute_cli.context import Context
from cacheroute_cli.control import control_client
from cacheroute_cli.diagnostics import Exit, Fault, speak
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies

URL = "http://127.0.0.1:8002/healthz"
NOBODY = "http://127.0.0.1:1"


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


def test_a_proxy_that_a_context_means_is_told_with_that_context() -> None:
    context = Context(proxy_url=NOBODY, proxy_url_is_default=False, name="prod")
    with pytest.raises(Fault) as caught, control_client(context) as client:
        client.status()

    assert caught.value.hint is not None
    assert caught.value.hint.startswith("the context is prod; ")


def test_names_that_are_heard_are_kept_for_the_shell_to_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path))
    pool = replies(an_instance("a"), an_instance("b"))
    pool["/debug/status"] |= {"proxy_id": "proxy-a"}
    with a_control_plane(pool) as url, control_client(Context(proxy_url=url)) as client:
        client.instances(include_dead=True)
        client.status()

    assert recall(url) == Seen(proxy_id="proxy-a", instances=["a", "b"])


def test_whoever_looks_for_a_cause_is_told_what_was_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    speak(verbose=True)
    try:
        with pytest.raises(Fault), control_client(Context(proxy_url=NOBODY)) as client:
            client.status()
    finally:
        speak()

    assert f"cacheroute: GET {NOBODY}/debug/status in " in capsys.readouterr().err
