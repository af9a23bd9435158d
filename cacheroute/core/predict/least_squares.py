"""Robust least squares: linear models through measurements, in plain Python.

Errors count relative to what was measured, since that is how predictions are judged: 10 ms
of 100 weigh as much as 1 s of 10. Outliers are weighed down by iteratively reweighted least
squares with Huber's weights: 1 up to k sigma, then k sigma / |error|.
"""

import math
from collections.abc import Collection, Sequence

_ROUNDS = 4
"""Fits, each weighed by the errors of the one before; more change nothing that matters."""
_HUBER_K = 2.0
"""Errors beyond this many sigma are weighed down."""
_MAD_TO_SIGMA = 1.4826
"""Sigma of a normal distribution over its median absolute deviation: 1 / 0.6745."""
_NEGLIGIBLE = 1e-9
"""A relative length or error below this is rounding."""

Column = Sequence[float]


def fit(
    columns: Sequence[Column], measured: Sequence[float], at_least_zero: Collection[int] = ()
) -> list[float]:
    """Return one coefficient per column for positive measurements.

    A column that follows from those before it gets 0, as does one of `at_least_zero` that
    would be negative.
    """
    scaled = [[x / y for x, y in zip(column, measured, strict=True)] for column in columns]
    weights = [1.0] * len(measured)
    found = [0.0] * len(columns)
    for _ in range(_ROUNDS):
        found = _bounded(scaled, weights, at_least_zero)
        errors = [
            abs(1.0 - sum(k * column[row] for k, column in zip(found, scaled, strict=True)))
            for row in range(len(measured))
        ]
        sigma = sorted(errors)[len(errors) // 2] * _MAD_TO_SIGMA
        if sigma <= _NEGLIGIBLE:
            break
        weights = [min(1.0, _HUBER_K * sigma / error) if error else 1.0 for error in errors]
    return found


def _bounded(
    columns: Sequence[Column], weights: Sequence[float], at_least_zero: Collection[int]
) -> list[float]:
    used = list(range(len(columns)))
    while True:
        solved = _solve([columns[index] for index in used], weights)
        found = dict(zip(used, solved, strict=True))
        worst = min(at_least_zero, key=lambda index: found.get(index, 0.0), default=None)
        if worst is None or found.get(worst, 0.0) >= 0:
            return [found.get(index, 0.0) for index in range(len(columns))]
        used.remove(worst)


def _solve(columns: Sequence[Column], weights: Sequence[float]) -> list[float]:
    """Solve for a target of ones by a QR decomposition (modified Gram-Schmidt).

    `basis` holds the columns of Q, `shares` those of R.
    """
    roots = [math.sqrt(weight) for weight in weights]
    target = list(roots)
    basis: list[list[float]] = []
    shares: list[list[float]] = []
    for column in columns:
        rest = [x * root for x, root in zip(column, roots, strict=True)]
        length = _norm(rest)
        share = []
        for direction in basis:
            part = _dot(direction, rest)
            share.append(part)
            rest = [x - part * d for x, d in zip(rest, direction, strict=True)]
        left = _norm(rest)
        independent = left > _NEGLIGIBLE * length
        basis.append([x / left if independent else 0.0 for x in rest])
        shares.append([*share, left if independent else 0.0])
    found = [0.0] * len(columns)
    parts = []
    for direction in basis:
        part = _dot(direction, target)
        parts.append(part)
        target = [x - part * d for x, d in zip(target, direction, strict=True)]
    for index in reversed(range(len(columns))):
        if shares[index][index]:
            after = sum(shares[k][index] * found[k] for k in range(index + 1, len(columns)))
            found[index] = (parts[index] - after) / shares[index][index]
    return found


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def _norm(values: Sequence[float]) -> float:
    return math.sqrt(_dot(values, values))
