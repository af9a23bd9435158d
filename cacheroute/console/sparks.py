"""Numbers over time as one cell each: eight heights of a block, and a dot for a gap."""

from collections.abc import Sequence
from math import isnan

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS = "_.-=+*%#"
GAP = "·"


def spark(
    values: Sequence[float],
    width: int,
    *,
    top: float | None = None,
    as_ascii: bool = False,
) -> str:
    """Draw the newest values, the newest right; `top` is the value of the highest block.

    Without `top` the highest value is, and the lowest block stands for 0.
    """
    if width <= 0:
        return ""
    blocks, gap = (ASCII_BLOCKS, " ") if as_ascii else (BLOCKS, GAP)
    shown = values[-width:]
    if top is None:
        top = max((value for value in shown if not isnan(value)), default=0.0)
    drawn = "".join(_block(value, top, blocks, gap) for value in shown)
    return gap * (width - len(drawn)) + drawn


def _block(value: float, top: float, blocks: str, gap: str) -> str:
    if isnan(value):
        return gap
    if top <= 0:
        return blocks[0]
    share = min(max(value / top, 0.0), 1.0)  # before it is a number of blocks: it may be infinite
    return blocks[int(share * (len(blocks) - 1) + 0.5)]
