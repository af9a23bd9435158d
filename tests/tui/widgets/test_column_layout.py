"""Which columns have room."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.console.cells import cells
from cacheroute.console.columns import Column
from cacheroute_tui.widgets.column_layout import MIN_WIDTH, placed, shortened


@dataclass(frozen=True)
class Row:
    name: str = "a-rather-long-name"


def column(
    key: str, width: int | None = 5, *, rank: int = 0, gives_way: bool = False
) -> Column[Row]:
    return Column(
        key=key,
        header=key.upper(),
        text=lambda row: row.name,
        doc="",
        width=width,
        rank=rank,
        gives_way=gives_way,
    )


COLUMNS = (
    column("id", None, gives_way=True),
    column("a", rank=2),
    column("b", rank=1),
    column("c"),
)


def keys(width: int) -> list[str]:
    return [one.column.key for one in placed(COLUMNS, [Row()], width)]


def test_with_room_all_are_there_as_wide_as_they_need() -> None:
    found = placed(COLUMNS, [Row()], 80)

    assert [one.width for one in found] == [18, 5, 5, 5]


def test_names_give_way_first_then_the_highest_rank_goes() -> None:
    assert keys(28) == ["id", "a", "b", "c"]
    assert keys(27) == ["id", "b", "c"]
    assert keys(20) == ["id", "c"]


def test_a_column_of_rank_0_stays_however_narrow_it_gets() -> None:
    assert keys(3) == ["id", "c"]


def test_with_all_kept_those_to_the_right_are_cut_off() -> None:
    found = placed(COLUMNS, [Row()], 20, keeps_all=True)

    assert [one.column.key for one in found] == ["id", "a"]


def test_a_measured_column_is_as_wide_as_its_widest_row() -> None:
    found = placed(COLUMNS, [Row("x"), Row("長い名前")], 80)

    assert found[0].width == 8


@pytest.mark.parametrize(
    ("text", "width", "cut"),
    [
        ("a-very-long-name-in-a-hall-017", 11, "a-ve…ll-017"),
        ("a sentence that is long", 11, "a sentence…"),
        ("short", 11, "short"),
        ("abcdefghij", 5, "abcd…"),
    ],
)
def test_of_a_name_that_is_too_long_the_end_is_kept(text: str, width: int, cut: str) -> None:
    assert shortened(text, width) == cut if cells(text) > width else text


@given(st.text(), st.integers(1, 40))
def test_what_is_shortened_fits(text: str, width: int) -> None:
    assert cells(shortened(text, width)) <= max(width, cells(text) if cells(text) <= width else 0)


@given(st.integers(1, 200), st.booleans())
def test_what_is_placed_fits_unless_only_what_must_stay_is_left(width: int, keeps: bool) -> None:
    found = placed(COLUMNS, [Row()], width, keeps_all=keeps)
    used = sum(one.width + 1 for one in found)

    least = sum(MIN_WIDTH if c.gives_way else 5 for c in COLUMNS if c.rank == 0) + 2
    assert used <= max(width, least) or len(found) == 1
