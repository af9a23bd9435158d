"""What may be typed to search, and what would keep the console busy for ever."""

import pytest

from cacheroute_tui.patterns import MAX_SEARCHED_CHARS, matches, search_pattern


def test_nothing_is_no_expression() -> None:
    assert search_pattern("  ") is None


@pytest.mark.parametrize("text", ["error", "5\\d\\d", "(warn|error) .*timeout", "a{1,3}(b|c)"])
def test_a_usual_expression_is_taken_in_any_case(text: str) -> None:
    pattern = search_pattern(text)

    assert pattern is not None
    assert pattern.flags & 2


@pytest.mark.parametrize("text", ["(a+)+$", "(a|a)*b", "((a*)b)*", "(?:x+x+)+y"])
def test_what_may_take_for_ever_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="never end"):
        search_pattern(text)


def test_what_is_no_expression_is_said() -> None:
    with pytest.raises(ValueError, match="no regular expression"):
        search_pattern("[")


def test_the_end_of_an_endless_line_is_not_searched() -> None:
    pattern = search_pattern("end")
    assert pattern is not None

    assert matches(pattern, "the end")
    assert not matches(pattern, "x" * MAX_SEARCHED_CHARS + "end")
