"""The client's faults as ours, and a meter that knows its end only after the beginning."""

from typing import Any

import pytest

from cacheroute.client.faults import (
    ControlFault,
    NotUnderstood,
    Refused,
    TimedOut,
    Unreachable,
)
from cacheroute.client.measure import AnswerFailed, Measurements, NoUsage
from cacheroute.client.measure_plan import Plan
from cacheroute_cli import measuring
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.evidence import Evidence
from cacheroute_cli.measuring import evidence_of_instance
from tests.cacheroute.client.canned import a_peer_saying, answer

URL = "http://127.0.0.1:9001/v1/chat/completions"


def evidence(endpoint: str = "127.0.0.1:9001", **given: Any) -> Evidence:
    options: dict[str, Any] = {"model": "m", "plan": Plan(), "api_key_env": None, **given}
    return evidence_of_instance(Context(), endpoint=endpoint, **options)


@pytest.mark.parametrize(
    ("fault", "code", "exit_code", "hint"),
    [
        (
            Unreachable(url=URL, cause="connection refused"),
            "instance.unreachable", Exit.UNREACHABLE, "is it running?",
        ),
        (TimedOut(url=URL, timeout_s=5), "instance.unreachable", Exit.UNREACHABLE, "--lengths"),
        (
            Refused(url=URL, status=401, body=""),
            "instance.forbidden", Exit.NOT_ALLOWED, "--api-key-env",
        ),
        (
            Refused(url=URL, status=403, body=""),
            "instance.forbidden", Exit.NOT_ALLOWED, "--api-key-env",
        ),
        (Refused(url=URL, status=404, body=""), "instance.not_found", Exit.NOT_FOUND, "/v1/models"),
        (Refused(url=URL, status=503, body=""), "instance.refused", Exit.FAILED, "nothing else"),
        (Refused(url=URL, status=500, body=""), "instance.refused", Exit.FAILED, "is this where"),
        (NoUsage(url=URL, why="x"), "instance.not_understood", Exit.NOT_UNDERSTOOD, "--log"),
        (
            NotUnderstood(url=URL, why="x"),
            "instance.not_understood", Exit.NOT_UNDERSTOOD, "is this where",
        ),
        (AnswerFailed("x", url=URL), "instance.refused", Exit.FAILED, "its own log"),
    ],
)  # fmt: skip
def test_every_fault_has_its_code_and_a_way_out(
    monkeypatch: pytest.MonkeyPatch,
    fault: ControlFault,
    code: str,
    exit_code: Exit,
    hint: str,
) -> None:
    async def fail(*_: object, **__: object) -> Measurements:
        raise fault

    monkeypatch.setattr(measuring, "measure", fail)
    with pytest.raises(Fault) as caught:
        evidence()

    assert (caught.value.code, caught.value.exit) == (code, exit_code)
    assert hint in (caught.value.hint or "")
    assert caught.value.details["url"] == URL
    assert caught.value.message == fault.message


def test_an_engine_that_counts_nothing_is_refused_over_a_real_socket() -> None:
    stream = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n'
    peer = answer(stream, headers="Content-Type: text/event-stream\r\n")
    with a_peer_saying(peer) as url, pytest.raises(Fault) as caught:
        evidence(url)

    assert "does not say how many tokens it has read" in caught.value.message
    assert "stream_options.include_usage" in (caught.value.hint or "")


def test_what_comes_before_the_meter_begins_is_counted_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    advanced: list[str] = []

    class Bar:
        def __init__(self, what: str, total: int) -> None:
            advanced.append(f"{what} {total}")

        def __enter__(self) -> Any:
            return lambda: advanced.append("+")

        def __exit__(self, *_: object) -> None:
            advanced.append("end")

    async def found(*_: object, on_start: Any, on_answer: Any, **__: object) -> Measurements:
        on_answer()
        on_start(72.0)
        on_answer()
        return Measurements(prefill=(), decode=(), requests=2, left_out=("3 x",), took_s=1)

    monkeypatch.setattr(measuring, "progress", Bar)
    monkeypatch.setattr(measuring, "measure", found)

    result = evidence()

    assert advanced == ["measuring m, about 1m12s 43", "+", "+", "end"]
    assert (result.source, result.requests, result.left_out) == ("endpoint", 2, ("3 x",))


def test_the_key_is_read_from_where_no_list_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[object] = []

    async def found(*_: object, api_key: str | None, **__: object) -> Measurements:
        keys.append(api_key)
        return Measurements(prefill=(), decode=(), requests=0, left_out=(), took_s=1)

    monkeypatch.setattr(measuring, "measure", found)
    monkeypatch.setenv("MY_KEY", " s3cret\n")

    evidence(api_key_env="MY_KEY")
    evidence()

    assert keys == ["s3cret", None]
