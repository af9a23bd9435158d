"""`python -m tests.bench`: the table. `python -m tests.bench growth`: how the costs grow."""

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any

from tests.bench import bars, growth, growth_report, report, rounds
from tests.bench.processes import LoadFailed

ROUNDS = 5
"""Fewer than five paired rounds say little on a machine that others use too."""


def parse(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("table", "growth"), default="table")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="paired rounds (default: 5)")
    parser.add_argument("--only", nargs="+", metavar="ROW", help="measure these rows alone")
    parser.add_argument(
        "--requests", type=int, default=growth.Sizes().requests, metavar="N",
        help="for growth: how many requests are served in all (default: 1000000)",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="try everything, measure nothing well")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to a file")
    parser.add_argument(
        "--record", metavar="NAME",
        help=f"append the table to {report.HISTORY.name} under this name: once per release, "
        "on a quiet machine",
    )  # fmt: skip
    given = parser.parse_args(argv)
    if given.record and given.what == "growth":
        parser.error("--record is for the table")
    return given


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


def _table(given: argparse.Namespace) -> tuple[dict[str, Any], str, list[bars.Bar]]:
    number = 1 if given.quick else given.rounds
    scale = 0.1 if given.quick else 1.0
    rows = rounds.run(rounds=number, scale=scale, only=given.only, say=_say)
    result = report.as_json(rows, number)
    return result, report.table(result), bars.of_table(result)


def _growth(given: argparse.Namespace) -> tuple[dict[str, Any], str, list[bars.Bar]]:
    sizes = growth.Sizes(rounds=given.rounds, requests=given.requests)
    result = growth.run(growth.QUICK if given.quick else sizes, _say)
    return (
        {**report.circumstances(), **result},
        growth_report.table(result),
        growth_report.bars(result),
    )


def main(argv: list[str] | None = None) -> int:
    """Measure, and say what was found; returns the exit code."""
    given = parse(argv)
    for number in (signal.SIGTERM, signal.SIGINT):  # through the blocks that end processes
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        result, table, found = _growth(given) if given.what == "growth" else _table(given)
    except LoadFailed as error:
        _say(f"bench: {error}")
        return 1
    note = " (a quick run meets or misses them by chance)" if given.quick else ""
    sys.stdout.write(f"{table}\n\nBars{note}\n{bars.in_words(found)}\n")
    if given.json is not None:
        given.json.write_text(json.dumps(result, indent=2) + "\n")
    if given.record:
        report.record(given.record, result)
    elif given.what == "table":
        sys.stdout.write("\nTo keep this in the history: python -m tests.bench --record NAME\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
