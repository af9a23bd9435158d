"""A share as a bar of cells, to an eighth of one; nobody knows it is a question mark, not blank."""

from cacheroute.console.cells import UNTOLD

_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(value: float | None, width: int, *, top: float = 100.0, as_ascii: bool = False) -> str:
    """Draw a value in so many cells, `top` being all of them."""
    if width <= 0:
        return ""
    if value is None:
        return UNTOLD.ljust(width, " " if as_ascii else "·")
    share = min(1.0, max(0.0, value / top)) if top > 0 else 0.0
    if as_ascii:
        return ("#" * round(share * width)).ljust(width, ".")
    eighths = round(share * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width, "·")
