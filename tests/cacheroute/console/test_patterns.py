"""What may be typed to search, and that no expression keeps the console busy for ever."""

import time

import pytest

from cacheroute.console.patterns import MAX_PATTERN_CHARS, Expression, search_pattern


def test_nothing_is_no_expression() -> None:
    assert search_pattern("  ") is None


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("error", "an ERROR"),
        (r"5\d\d", "it answered 503"),
        ("(warn|error) .*timeout", "error after a timeout"),
        (r"(\d{1,3}\.){3}\d{1,3}", "from 127.0.0.1"),
        ("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "0B6F8a3c-1111-2222-3333-0123456789ab"),
        ("推.机", "推理机"),
        (r"\bkv\b", "text, kv"),
    ],
)
def test_a_usual_expression_finds_in_any_case(pattern: str, text: str) -> None:
    found = search_pattern(pattern)

    assert found is not None
    assert found.is_in(text)
    assert not found.is_in("nothing of the kind")


def cpu_s_of(expression: Expression, text: str) -> float:
    began = time.process_time()
    for _ in range(20):
        expression.is_in(text)
    return time.process_time() - began


@pytest.mark.parametrize(
    "pattern",
    [".*.*x", "(a+)+$x", "(a|a)*b", "(?:x+x+)+y", "a?" * 30 + "b", r"(\b\w*)*!", "a.*" * 60 + "b"],
)
def test_what_has_countless_ways_to_match_takes_time_by_the_length_of_the_text(
    pattern: str,
) -> None:
    expression = Expression(pattern)
    short, long = "a" * 2_000, "a" * 64_000
    expression.is_in(long)

    # 32 times the text; by trying the ways it would be more than a thousand times the work.
    assert cpu_s_of(expression, long) <= 200 * max(cpu_s_of(expression, short), 1e-4)


@pytest.mark.parametrize("pattern", ["[", "(", "a**", r"(a)\1", "(?=x)", "a{5000}", "(" * 190])
def test_what_is_no_expression_is_said(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"is no regular expression: .+"):
        search_pattern(pattern)


def test_a_refusal_writes_nothing_to_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="missing"):
        Expression("(a")

    assert capfd.readouterr() == ("", "")


def test_a_long_expression_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 200 characters"):
        search_pattern("x" * (MAX_PATTERN_CHARS + 1))


def test_halves_of_characters_are_searched_around_and_are_no_fault() -> None:
    assert Expression("end").is_in("\udcff the end")
    assert not Expression("\ud800").is_in("the end")


def test_the_case_counts_where_it_is_asked_for() -> None:
    assert Expression("Error").is_in("an error")
    assert not Expression("Error", any_case=False).is_in("an error")
