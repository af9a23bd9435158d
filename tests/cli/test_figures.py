"""What a run came to, in every form it can be asked for."""

import json
from dataclasses import dataclass

import pytest

from cacheroute_cli.context import Context, Format
from cacheroute_cli.figures import (
    FIRST_TOKEN,
    REQUESTS,
    failures,
    half_below,
    most_below,
    print_figures,
)

COLUMNS = (
    REQUESTS,
    failures("Requests that failed."),
    half_below("p50_ms", "P50", FIRST_TOKEN),
    most_below("p90_ms", "P90", FIRST_TOKEN),
)


@dataclass(frozen=True)
class Row:
    requests: int
    failures: int
    p50_ms: float | None
    p90_ms: float | None


ROWS = (Row(3, 0, 12.25, None), Row(4, 1, 80.0, 12_400.0))


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        (
            "table",
            [
                "REQ  FAIL    P50     P90",
                "  3     0  12 ms       —",
                "  4     1  80 ms  12.4 s",
                "",
                "so it went",
            ],
        ),
        ("csv", ["requests,failures,p50_ms,p90_ms", "3,0,12.25,", "4,1,80.0,12400.0"]),
    ],
)
def test_a_table_has_sentences_below_and_csv_has_values_alone(
    capsys: pytest.CaptureFixture[str], form: Format, lines: list[str]
) -> None:
    context = Context(output=form, color="never")
    print_figures(context, COLUMNS, ROWS, sentences=["so it went"], schema="s/1", content={})

    assert capsys.readouterr().out.splitlines() == lines


def test_a_document_holds_what_it_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    context = Context(output="json")
    print_figures(context, COLUMNS, ROWS, sentences=[], schema="s/1", content={"items": ROWS})

    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "s/1"
    assert [item["p90_ms"] for item in document["items"]] == [None, 12_400.0]


def test_a_row_with_failures_is_told_apart_and_each_column_says_what_it_means() -> None:
    tone = COLUMNS[1].tone

    assert tone is not None
    assert [tone(row) for row in ROWS] == ["plain", "bad"]
    assert COLUMNS[2].doc == "Time to the first token that half of the requests stayed below."
    assert COLUMNS[3].doc == "Time to the first token that nine in ten stayed below."
