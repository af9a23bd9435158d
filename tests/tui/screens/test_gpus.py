"""GPU by GPU: what the report has, and a dash for what it has not."""

import pytest

from cacheroute.wire.instances import ResourceRow
from cacheroute_tui.screens.gpus import gpu_lines


def told(*gpus: object) -> list[str]:
    row = ResourceRow(raw_resource={"devices": {"gpu": list(gpus)}})
    return ["".join(span.text for span in line) for line in gpu_lines(row)]


def test_a_gpu_is_a_line_with_its_figures() -> None:
    [line] = told(
        {"index": 3, "name": "A100", "utilization_pct": 63.0, "temperature_c": 61, "power_w": 290.0}
    )

    for text in ("gpu 3", "A100", "63%", "61 °C", "290 W"):
        assert text in line


def test_what_a_gpu_does_not_report_is_a_question_mark_and_an_error_is_said() -> None:
    [line] = told({"utilization_pct": True, "utilization_error": "not supported"})

    assert line.startswith(" gpu 0 ")
    assert "0%" not in line
    assert line.count("?") == 6
    assert line.endswith("not supported")


@pytest.mark.parametrize(
    "raw", [None, {}, {"devices": None}, {"devices": {"gpu": "two"}}, {"devices": {"gpu": [1]}}]
)
def test_a_report_without_gpus_says_so(raw: dict[str, object] | None) -> None:
    [[span]] = gpu_lines(ResourceRow(raw_resource=raw))

    assert span.text == " the report tells of no GPU"


def test_no_more_than_64_gpus_of_a_host_are_shown() -> None:
    assert len(told(*({"index": at} for at in range(100)))) == 64
