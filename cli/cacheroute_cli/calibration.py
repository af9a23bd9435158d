"""How a calibration is shown: which part was fitted, how well, and what was kept instead."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from cacheroute.console import cast
from cacheroute.console.amounts import render_ratio
from cacheroute.console.columns import Column
from cacheroute.core.predict.calibration import Calibration
from cacheroute_cli.coefficients_file import render
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import note
from cacheroute_cli.evidence import Evidence
from cacheroute_cli.output import print_document, print_table, print_text
from cacheroute_cli.tables import render_table

POOR_RATIO = 0.15
"""A median error that is worth a remark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRow:
    """One section of the coefficients."""

    name: str
    source: str
    """`measured`, or what it was kept from: `published` or `base`."""
    used: int | None
    """Measurements it was fitted to; None when it was kept, as all that follows."""
    held_out: int | None
    dropped: int | None
    p50_ratio: float | None
    p90_ratio: float | None
    why_kept: str | None


COLUMNS: tuple[Column[PartRow], ...] = (
    cast.word("name", "SECTION", "Part of the document."),
    cast.word("source", "FROM", "Whether it was measured, or what it was kept from."),
    cast.count("used", "USED", "Measurements it was fitted to."),
    cast.count("held_out", "HELD OUT",
        "Measurements that the errors are of; it was not fitted to them."),
    cast.ratio("p50_ratio", "P50", "Median error of the held-out measurements."),
    cast.ratio("p90_ratio", "P90", "What nine in ten of these errors do not exceed."),
    cast.word("why_kept", "WHY KEPT", "Why it could not be measured.",
        text=lambda row: row.why_kept or "", gives_way=True),
)  # fmt: skip


def rows_of(result: Calibration, base_name: str) -> list[PartRow]:
    """Return a row for each section."""
    return [
        PartRow(
            name=part.name,
            source=base_name if part.fit is None else "measured",
            used=None if part.fit is None else part.fit.used,
            held_out=None if part.fit is None else part.fit.held_out,
            dropped=None if part.fit is None else part.fit.dropped,
            p50_ratio=None if part.fit is None else part.fit.p50_ratio,
            p90_ratio=None if part.fit is None else part.fit.p90_ratio,
            why_kept=part.why_kept,
        )
        for part in result.parts
    ]


def show(
    context: Context,
    result: Calibration,
    evidence: Evidence,
    target: Path | None,
    *,
    base_name: str,
) -> None:
    """Print what came out; without a file, the coefficients themselves are what is printed."""
    rows = rows_of(result, base_name)
    document = result.coefficients.as_mapping()
    if context.as_json:
        print_document(
            "cacheroute.calibrate/1",
            {
                "file": None if target is None else str(target),
                "source": evidence.source,
                "model": evidence.model,
                "requests": evidence.requests,
                "left_out": list(evidence.left_out),
                "skipped_lines": evidence.skipped_lines,
                "sections": rows,
                "coefficients": document,
            },
        )
        return
    if target is None:
        print_text(render(document))
        for line in render_table(COLUMNS, rows, width=None, color=False):
            note(line)
    else:
        print_table(context, COLUMNS, rows)
    _remark(result, evidence)
    file = "FILE" if target is None else shlex.quote(str(target))
    note(f"next     cacheroute proxy start --set predict.coefficients={file}")


def _remark(result: Calibration, evidence: Evidence) -> None:
    for what in evidence.left_out:
        note(f"left out {what}")
    if evidence.skipped_lines:
        note(f"left out {evidence.skipped_lines} lines that are no request")
    fit = result.part("ttft").fit
    if fit is not None and fit.p50_ratio > POOR_RATIO:
        note(
            f"note     half of the held-out times to first token are off by more than "
            f"{render_ratio(fit.p50_ratio)}: {evidence.way_out}"
        )
