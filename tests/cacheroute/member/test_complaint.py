"""How a program of ours says why it ends, to people and to programs."""

import json

import pytest

from cacheroute.member.complaint import ERRORS_VARIABLE, complain, remark


def test_people_read_a_sentence_and_a_hint(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ERRORS_VARIABLE, raising=False)

    assert complain("It is so.", code="a.b", exit_code=3, hint="do it") == 3
    complain("Or so.\nAnd so.", code="a.b", exit_code=1)
    remark("By the way")

    assert capsys.readouterr().err.splitlines() == [
        "cacheroute: error: It is so.",
        "  hint: do it",
        "cacheroute: error: Or so.",
        "cacheroute: error: And so.",
        "cacheroute: note: By the way",
    ]


def test_programs_read_one_document(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ERRORS_VARIABLE, "json")

    complain("It is so.", code="a.b", exit_code=3, hint="do it")

    assert json.loads(capsys.readouterr().err) == {
        "error": {"code": "a.b", "message": "It is so.", "hint": "do it", "exit": 3}
    }
