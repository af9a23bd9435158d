"""What logs have to say, and what is said when they cannot."""

from pathlib import Path

import pytest

from cacheroute.client import request_lines
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.evidence import LogUnreadable, evidence_of_logs
from tests.cacheroute.client.test_request_lines import KNOWLEDGE, written
from tests.cacheroute.runtime.test_request_log import a_record


def test_a_log_gives_its_measurements_by_forecast_before_those_by_count(tmp_path: Path) -> None:
    log = written(
        tmp_path / "log",
        a_record(cached_tokens=0),
        a_record(at=2e9, knowledge=KNOWLEDGE),
        a_record(outcome="timeout", at=3e9),
        a_record(outcome="timeout", at=3e9),
    )

    evidence = evidence_of_logs([log], model=None)

    assert (evidence.source, evidence.model, evidence.requests) == ("log", "m", 4)
    by_forecast, both = evidence.prefill
    assert [sample.uncached_tokens for sample in by_forecast] == [400]
    assert [sample.uncached_tokens for sample in both] == [400, 7]
    assert evidence.left_out == ("2 requests did not go well at once",)


def test_a_log_without_models_is_of_no_model(tmp_path: Path) -> None:
    log = written(tmp_path / "log", a_record(model=None))

    assert evidence_of_logs([log], model=None).model is None


def test_many_models_are_not_all_listed(tmp_path: Path) -> None:
    log = written(tmp_path / "log", *[a_record(model=f"m-{n}") for n in range(9)])

    with pytest.raises(UsageFault) as caught:
        evidence_of_logs([log], model=None)

    assert "9 models (m-0, m-1, m-2, m-3, m-4, ...)" in caught.value.message
    assert "--model" in (caught.value.hint or "")


def test_what_is_too_old_to_be_kept_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = written(tmp_path / "log", *[a_record(at=float(n)) for n in range(5)])
    monkeypatch.setattr(request_lines.read_request_logs, "__kwdefaults__", {"keep": 2})

    evidence = evidence_of_logs([log], model=None)

    assert evidence.left_out[-1] == "3 requests before the last 2"


def test_a_log_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogUnreadable) as caught:
        evidence_of_logs([tmp_path / "none"], model=None)

    assert caught.value.message == f"cannot read {tmp_path / 'none'} (no such file or directory)"
