"""What may be typed to search, and what would keep the console busy for ever."""

import pytest

from cacheroute.console.patterns import (
    MAX_ENDLESS,
    MAX_PATTERN_CHARS,
    MAX_SEARCHED_CHARS,
    matches,
    regex,
    search_pattern,
)


def test_nothing_is_no_expression() -> None:
    assert search_pattern("  ") is None


@pytest.mark.parametrize(
    "text",
    [
        "error", "5\\d\\d", "(warn|error) .*timeout", "a{1,3}(b|c)", "(\\d{1,3}\\.){3}\\d{1,3}",
        "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "([0-9a-f]{4}:){7}", "(\\d{2}:)*",
        "(\\w+-){3}",
    ],
)  # fmt: skip
def test_a_usual_expression_is_taken_in_any_case(text: str) -> None:
    pattern = search_pattern(text)

    assert pattern is not None
    assert pattern.flags & 2


@pytest.mark.parametrize(
    "text",
    [
        "(a+)+$", "(a|a)*b", "((a*)b)*", "(?:x+x+)+y", "(?>(a+)+b)", "(?:(a+)+b)++",
        "(x)?(?(1)(a+)+b|(a+)+c)", "(a{0,16}){0,16}b", "(a{1,3})*b", "(a?a?)*b",
    ],
)  # fmt: skip
def test_what_may_take_for_ever_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="never end"):
        search_pattern(text)


@pytest.mark.parametrize("text", ["[", "(", "a**", "(" * 190])
def test_what_is_no_expression_is_said(text: str) -> None:
    with pytest.raises(ValueError, match="no regular expression"):
        search_pattern(text)


def test_a_long_expression_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 200 characters"):
        search_pattern("x" * (MAX_PATTERN_CHARS + 1))


def test_a_few_repetitions_are_taken_and_many_refused() -> None:
    assert search_pattern("a.*" * MAX_ENDLESS) is not None
    with pytest.raises(ValueError, match="more than 4 repetitions"):
        search_pattern("a.*" * (MAX_ENDLESS + 1))


@pytest.mark.parametrize("text", ["(a+){16}b", "((a+b){2}){3}", "(?>(?:a*b){5})"])
def test_what_is_repeated_counts_as_often_as_it_may_be_there(text: str) -> None:
    with pytest.raises(ValueError, match="more than 4 repetitions"):
        search_pattern(text)


def test_the_end_of_an_endless_line_is_not_searched() -> None:
    pattern = search_pattern("end")
    assert pattern is not None

    assert matches(pattern, "the end")
    assert not matches(pattern, "x" * MAX_SEARCHED_CHARS + "end")


def test_the_case_counts_where_it_is_asked_for() -> None:
    assert regex("Error").search("an error")
    assert not regex("Error", any_case=False).search("an error")
