"""How a calibration is shown."""

from pathlib import Path

import pytest

from cacheroute.core.predict.calibration import Calibration, calibrate
from cacheroute.core.predict.coefficients import PUBLISHED
from cacheroute.core.predict.samples import PrefillSample
from cacheroute_cli.calibration import COLUMNS, rows_of, show
from cacheroute_cli.context import Context
from cacheroute_cli.evidence import Evidence
from cacheroute_cli.tables import render_table

EVIDENCE = Evidence(
    source="log",
    model="m",
    requests=20,
    prefill=(),
    decode=(),
    left_out=("3 requests not alone",),
    skipped_lines=2,
    way_out="idle",
)


def a_result() -> Calibration:
    samples = [PrefillSample(uncached_tokens=n, ttft_ms=10 + n) for n in range(50, 1050, 50)]
    return calibrate(prefill=[samples], decode=[], base=PUBLISHED, base_name="published", of={})


def test_each_section_is_a_row_and_what_was_kept_says_why() -> None:
    lines = render_table(COLUMNS, rows_of(a_result(), "published"), width=None, color=False)

    assert [line.split()[:6] for line in lines[:2]] == [
        ["SECTION", "FROM", "USED", "HELD", "OUT", "P50"],
        ["ttft", "measured", "15", "5", "0.0%", "0.0%"],
    ]
    assert lines[2].split(maxsplit=6)[:6] == ["tpot", "published", "—", "—", "—", "—"]
    assert lines[2].endswith("0 usable measurements; at least 8 needed")
    assert len(lines) == 5


def test_the_reason_gives_way_on_a_narrow_terminal() -> None:
    lines = render_table(COLUMNS, rows_of(a_result(), "published"), width=80, color=False)

    assert max(map(len, lines)) <= 80


def test_what_was_left_out_and_what_to_do_next_are_no_data(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show(Context(), a_result(), EVIDENCE, Path("my file.json"), base_name="base")

    out, err = capsys.readouterr()
    assert "redis    base" in out
    assert err.splitlines() == [
        "left out 3 requests not alone",
        "left out 2 lines that are no request",
        "next     cacheroute proxy start --set predict.coefficients='my file.json'",
    ]
