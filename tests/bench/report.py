"""What was measured, as a table for people, as JSON, and as one line of history."""

import datetime
import json
import os
import platform
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cacheroute import __version__
from tests.bench.rounds import DIRECT, LOADS, Row

HISTORY = Path(__file__).with_name("history.jsonl")
BASES = ("nginx", "relay")
"""Rows that the others are compared with."""


def ratios(row: Row, base: Row, load: str) -> list[float]:
    """Return how much more CPU time a row took than another, round by round."""
    pairs = zip(row.samples[load], base.samples[load], strict=True)
    return [mine.cpu_us / theirs.cpu_us for mine, theirs in pairs]


def as_json(rows: Sequence[Row], rounds: int) -> dict[str, Any]:
    """Return everything that was measured, and where."""
    bases = {row.name: row for row in rows if row.name in BASES}
    return {
        **circumstances(),
        "rounds": rounds,
        "rows": {row.name: _row(row, bases) for row in rows},
    }


def circumstances() -> dict[str, Any]:
    """Say when and on what machine this is."""
    return {
        "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "version": __version__,
        "python": platform.python_version(),
        "cpu": _cpu(),
        "cpus": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 2),
    }


def _row(row: Row, bases: dict[str, Row]) -> dict[str, Any]:
    loads: dict[str, Any] = {}
    for load in LOADS:
        taken = row.samples.get(load.name)
        if not taken:
            continue
        cell: dict[str, Any] = {"per_s": round(statistics.median(s.per_s for s in taken))}
        if row.name != DIRECT:
            cell["cpu_us"] = _spread([s.cpu_us for s in taken])
            cell["ratio"] = {
                name: _spread(ratios(row, base, load.name))
                for name, base in bases.items()
                if name != row.name
            }
        if load.counts_delivery:
            cell["delivered_ratio"] = _spread([s.delivered_ratio or 0.0 for s in taken], 4)
        loads[load.name] = cell
    if row.name == DIRECT:
        return {"is_ours": False, "loads": loads}
    return {
        "is_ours": row.is_ours,
        "start_s": round(row.start_s, 3),
        "memory_mb": round(row.memory_mb, 1),
        "loads": loads,
    }


def _spread(values: Sequence[float], digits: int = 2) -> dict[str, float]:
    return {
        "median": round(statistics.median(values), digits),
        "min": round(min(values), digits),
        "max": round(max(values), digits),
    }


def _cpu() -> str | None:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return None


def table(result: dict[str, Any]) -> str:
    """Write the table: a block per load, medians with their spread."""
    rows: dict[str, Any] = result["rows"]
    lines = []
    for load in LOADS:
        pace = "closed loop" if load.every_us is None else f"{load.offered_per_s:,.0f} events/s"
        lines += ["", f"{load.title}, {load.connections} connections, {pace}"]
        head = ["", f"CPU us/{load.unit}", *(f"x {base}" for base in BASES), f"{load.unit}s/s"]
        cells = [[*head, "delivered"] if load.counts_delivery else head]
        for name, row in rows.items():
            cell = row["loads"].get(load.name)
            if cell is None:
                continue
            line = [name, _cell(cell.get("cpu_us"))]
            line += [_cell(cell.get("ratio", {}).get(base)) for base in BASES]
            line.append(f"{cell['per_s']:,}")
            if load.counts_delivery:
                line.append(_percent(cell["delivered_ratio"]))
            cells.append(line)
        lines += _aligned(cells)
    lines += ["", "Start and memory"]
    cells = [["", "first 200 after s", "MB after all loads"]]
    cells += [
        [name, f"{row['start_s']:.2f}", f"{row['memory_mb']:.0f}"]
        for name, row in rows.items()
        if "start_s" in row
    ]
    lines += _aligned(cells)
    lines += ["", f"load average at the end: {result['load_average']}"]
    return "\n".join(lines)


def _cell(spread: dict[str, float] | None) -> str:
    if spread is None:
        return "-"
    return f"{spread['median']:.2f} ({spread['min']:.2f}-{spread['max']:.2f})"


def _percent(spread: dict[str, float]) -> str:
    return f"{spread['median']:.1%} ({spread['min']:.1%}-{spread['max']:.1%})"


def _aligned(cells: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return [
        "  ".join(
            text.ljust(width) if column == 0 else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def record(name: str, result: dict[str, Any]) -> None:
    """Append a row to the history, which is kept with the code."""
    with HISTORY.open("a") as file:
        file.write(json.dumps({"name": name, **result}) + "\n")
