"""Numbers as screens write them."""

import pytest

from cacheroute.console import amounts as of_lists
from cacheroute_tui import amounts

NAMES = [name for name in vars(amounts) if name.startswith("render_")]


@pytest.mark.parametrize("name", NAMES)
def test_what_nobody_knows_is_a_question_mark_and_never_0(name: str) -> None:
    assert getattr(amounts, name)(None) == "?"
    assert getattr(of_lists, name)(None) == "—"


def test_what_is_known_is_written_as_in_lists() -> None:
    assert amounts.render_count(0) == of_lists.render_count(0) == "0"
    assert amounts.render_duration(41.0) == of_lists.render_duration(41.0)
