"""Coefficients out of a request log, and what stands in where it teaches nothing."""

import json
from pathlib import Path

import pytest

from cacheroute.core.predict.calibrate import CannotFit
from cacheroute.core.predict.coefficients import PUBLISHED, parse_coefficients
from cacheroute.demo.knowledge.learning import learn_from, make_lessons, sped_up
from cacheroute.demo.knowledge.mix import make_questions

SPEED = 10.0


def a_line(at: float, residual: int, reused: int, service_ms: float) -> str:
    knowledge = {
        "path": "kv_inject" if reused else "text_inject",
        "service_ms": service_ms,
        "residual_tokens": residual,
        "reused_tokens": reused,
        "alone": True,
    }
    return json.dumps(
        {
            "at": at,
            "endpoint": "chat/completions",
            "model": "m",
            "stream": True,
            "instance": "demo-1",
            "attempts": 1,
            "outcome": "ok",
            "ttft_ms": service_ms,
            "e2e_ms": service_ms + 20,
            "prompt_tokens": None,
            "completion_tokens": None,
            "cached_tokens": None,
            "knowledge": knowledge,
        }
    )


def a_log(folder: Path, *, texts: int = 16, kvs: int = 12) -> Path:
    """Write a log of an Instance that takes 5 ms, 0.1 ms a token, and 1 ms + 100 ms/GB of KV."""
    lines = [a_line(n, 100 * n, 0, 5 + 10 * n) for n in range(1, texts + 1)]
    for n in range(1, kvs + 1):
        gb = 256 * n * 96_000 / 1e9
        lines.append(a_line(100 + n, 50, 256 * n, 5 + 5 + 1 + 100 * gb))
    path = folder / "requests.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_lessons_are_of_all_lengths_and_nobody_asks_them_again() -> None:
    lessons = make_lessons(seed=7, block_tokens=256)

    in_turn = lessons.in_turn()
    assert len(in_turn) == len(lessons) == 32
    assert [mode for _, mode in in_turn] == ["text"] * 16 + ["kvcache"] * 16
    assert len({question.kid for question, _ in in_turn}) == 32
    assert min(question.text_tokens for question in lessons.as_kv) >= 256
    asked = make_questions(50, seed=1, per_second=1.0)
    assert {q.kid for q in asked}.isdisjoint(question.kid for question, _ in in_turn)


def test_a_log_teaches_prefill_and_loading(tmp_path: Path) -> None:
    calibration = learn_from(a_log(tmp_path), speed=SPEED)

    model = calibration.coefficients
    assert model.prefill.predict_ms(1000) == pytest.approx(105, rel=0.01)
    assert model.pull.pull_ms(0.1) == pytest.approx(11, rel=0.02)
    assert calibration.part("ttft").fit is not None
    assert calibration.part("redis").fit is not None


def test_what_it_does_not_teach_is_the_published_figure_at_that_speed(tmp_path: Path) -> None:
    calibration = learn_from(a_log(tmp_path, kvs=0), speed=SPEED)

    tpot_ms = calibration.coefficients.decode.tpot_ms(500)
    assert tpot_ms == pytest.approx(PUBLISHED.decode.tpot_ms(500) / SPEED)
    assert calibration.coefficients.pull.pull_ms(0.1) == pytest.approx(
        PUBLISHED.pull.pull_ms(0.1) / SPEED
    )
    assert calibration.part("redis").why_kept is not None


def test_what_was_learned_can_be_handed_to_a_proxy(tmp_path: Path) -> None:
    calibration = learn_from(a_log(tmp_path), speed=SPEED)

    document = json.loads(json.dumps(calibration.coefficients.as_mapping()))
    assert parse_coefficients(document).prefill == calibration.coefficients.prefill


def test_a_log_of_nothing_teaches_nothing(tmp_path: Path) -> None:
    with pytest.raises(CannotFit):
        learn_from(a_log(tmp_path, texts=2, kvs=0), speed=SPEED)


def test_at_the_speed_of_a_real_gpu_the_published_figures_are_what_they_are() -> None:
    assert sped_up(1.0) == PUBLISHED
