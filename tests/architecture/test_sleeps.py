"""Unit tests do not wait for time to pass: what depends on time is handed a time."""

import ast
from collections.abc import Iterator

from tests.architecture.sources import ROOT, Source, sources

LONGEST_S = 0.05
"""A shorter pause only lets other things run."""

WITH_REAL_TIME = ("tests/bench/", "tests/cases/", "tests/e2e/", "tests/soak/", "tests/support/")
"""Where whole programs run, which have clocks of their own."""

EXCEPTIONS: dict[str, str] = {
    "tests/cacheroute/runtime/test_serve.py": "a process that must not have ended yet",
}
"""Files that may sleep nonetheless, each with the reason."""


def naps(source: Source) -> Iterator[tuple[int, float]]:
    """Find calls of `sleep` with a constant that is too long: line and seconds."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and node.args and _name(node.func) == "sleep":
            seconds = _constant(node.args[0])
            if seconds is not None and seconds > LONGEST_S:
                yield node.lineno, seconds


def _name(function: ast.expr) -> str | None:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return None


def _constant(argument: ast.expr) -> float | None:
    match argument:
        case ast.Constant(value=int() | float() as seconds):
            return float(seconds)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            factors = _constant(left), _constant(right)
            return None if factors[0] is None or factors[1] is None else factors[0] * factors[1]
        case _:
            return None


def test_no_unit_test_sleeps() -> None:
    found = {
        f"{source.name}:{line} sleeps {seconds:g} s"
        for source in sources(ROOT / "tests")
        if not source.name.startswith(WITH_REAL_TIME) and source.name not in EXCEPTIONS
        for line, seconds in naps(source)
    }

    assert found == set()


def test_every_exception_is_still_one() -> None:
    idle = [name for name in EXCEPTIONS if not any(naps(Source(ROOT / name)))]

    assert idle == []
