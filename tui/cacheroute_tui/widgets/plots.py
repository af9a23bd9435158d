"""Values as characters: braille lines, block columns, and both of them in ASCII.

A row comes as runs of one course each, so a row of one course is one run whatever its width.
"""

from collections.abc import Sequence

Run = tuple[str, int]
"""Text, and the number of the course it is of; -1 is of none."""
Row = list[Run]

NO_COURSE = -1
BLOCKS = " ▁▂▃▄▅▆▇█"
ASCII_BLOCKS = " _.-=+*%#"
ASCII_LINES = "*ox+"
BRAILLE_PER_CELL = 2
"""Values that stand side by side in one cell of a braille line."""
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BRAILLE = 0x2800
_EIGHTHS = 8
_DOT_ROWS = 4


def block_rows(
    values: Sequence[float], height: int, *, top: float, as_ascii: bool = False
) -> list[Row]:
    """Draw one value a column, from the bottom up; a gap is blank and a 0 is a thin line."""
    blocks = ASCII_BLOCKS if as_ascii else BLOCKS
    most = height * _EIGHTHS
    levels = [
        0 if value != value else min(most, max(1, round(value / top * most))) for value in values
    ]
    return [
        [("".join([blocks[min(max(0, level - floor_), _EIGHTHS)] for level in levels]), 0)]
        for floor_ in range((height - 1) * _EIGHTHS, -1, -_EIGHTHS)
    ]


def line_rows(courses: Sequence[Sequence[float]], width: int, height: int, *, top: float
              ) -> list[Row]:  # fmt: skip
    """Draw lines of two values a cell; later courses are thinner, so that no colour is needed."""
    dots = [0] * (width * height)
    owner = [NO_COURSE] * (width * height)
    most = height * _DOT_ROWS - 1
    for number, values in enumerate(courses):
        before: int | None = None
        for x, value in enumerate(values[: width * BRAILLE_PER_CELL]):
            if value != value:
                before = None
                continue
            y = most - min(most, max(0, round(value / top * most)))
            low, high = y, y
            if before is not None and abs(before - y) > 1:
                low, high = (y, before - 1) if before > y else (before + 1, y)
            before = y
            if number and x % (number + 1):
                continue
            column = _DOTS[x % BRAILLE_PER_CELL]
            cell = x // BRAILLE_PER_CELL
            for dot in range(low, high + 1):
                place = dot // _DOT_ROWS * width + cell
                dots[place] |= column[dot % _DOT_ROWS]
                owner[place] = number
    return [
        _runs(
            [
                chr(_BRAILLE + bits) if bits else " "
                for bits in dots[row * width : (row + 1) * width]
            ],
            owner[row * width : (row + 1) * width],
        )
        for row in range(height)
    ]


def ascii_line_rows(
    courses: Sequence[Sequence[float]], width: int, height: int, *, top: float
) -> list[Row]:
    """Draw the same as one letter a cell and course."""
    cells = [" "] * (width * height)
    owner = [NO_COURSE] * (width * height)
    for number, values in enumerate(courses):
        for x in range(min(width, len(values) // BRAILLE_PER_CELL)):
            pair = values[x * BRAILLE_PER_CELL : (x + 1) * BRAILLE_PER_CELL]
            known = [value for value in pair if value == value]
            if not known:
                continue
            y = height - 1 - min(height - 1, max(0, round(max(known) / top * (height - 1))))
            cells[y * width + x] = ASCII_LINES[number % len(ASCII_LINES)]
            owner[y * width + x] = number
    return [
        _runs(cells[row * width : (row + 1) * width], owner[row * width : (row + 1) * width])
        for row in range(height)
    ]


def _runs(cells: Sequence[str], owner: Sequence[int]) -> Row:
    """Join cells of the same course; blanks go with whatever stands before them."""
    found: Row = []
    begin, current = 0, NO_COURSE
    for at, number in enumerate(owner):
        if number in (NO_COURSE, current):
            continue
        if current != NO_COURSE:
            found.append(("".join(cells[begin:at]), current))
            begin = at
        current = number
    found.append(("".join(cells[begin:]), current))
    return found
