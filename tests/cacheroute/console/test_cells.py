"""Text from elsewhere is shown, never obeyed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cacheroute.console.cells import ascii_only, cells, clip, pad, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("inst-1", "inst-1"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("a\nb\tc\0", "a\\nb\\tc\\x00"),
        ("right\u202eleft", "right\\u202eleft"),
        ("[red]名前[/red]", "[red]名前[/red]"),
    ],
)
def test_control_characters_become_visible_and_everything_else_stays(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_wide_characters_take_two_cells_and_combining_ones_none() -> None:
    assert cells("abc") == 3
    assert cells("名前") == 4
    assert cells("e\u0301") == 1


@pytest.mark.parametrize(
    "text",
    [
        "ไทย ที่นี่",
        "हिन्दी",
        "العَرَبِيَّة",
        "한글",
        "\u1112\u1161\u11ab\u1100\u1173\u11af",
        "e\u20dd",
        "名前",
        "Ω≈ç",
    ],
)
def test_a_name_takes_as_many_cells_as_the_toolkit_draws_it_in(text: str) -> None:
    # Where the two differ, all that stands to the right of the name moves.
    assert cells(text) == sum(map(cell_len, text))


def test_what_is_cut_ends_in_an_ellipsis_and_fits() -> None:
    assert clip("instance", 8) == "instance"
    assert clip("instances", 8) == "instanc…"
    assert clip("名前名前", 6) == "名前…"
    assert cells(clip("名前名前", 6)) <= 6


def test_padding_counts_cells() -> None:
    assert pad("名", 4) == "名  "
    assert pad("7", 3, right=True) == "  7"
    assert pad("long", 2) == "long"


def test_no_room_is_no_text() -> None:
    assert clip("abc", 0) == ""
    assert clip("abc", 1) == "…"


def test_signs_become_letters_of_the_same_width_and_the_rest_a_question_mark() -> None:
    assert ascii_only("● 5 · ✕ 1 — … × 名 ▸") == "* 5 | x 1 - . x ?? >"
    assert ascii_only("plain") == "plain"


@given(st.text(st.characters(codec="utf-8")))
def test_ascii_takes_as_many_cells_as_what_it_stands_for(text: str) -> None:
    written = ascii_only(text)

    assert written.isascii()
    assert cells(written) == cells(text)
