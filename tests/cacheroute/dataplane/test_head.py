"""What a head is made of."""

import pytest

from cacheroute.dataplane.head import connection_tokens, has_no_body, render_lines, status_line


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (200, b"HTTP/1.1 200 OK\r\n"),
        (431, b"HTTP/1.1 431 Request Header Fields Too Large\r\n"),
        (529, b"HTTP/1.1 529 \r\n"),
        (599, b"HTTP/1.1 599 \r\n"),
    ],
)
def test_a_status_has_its_usual_phrase_and_an_odd_one_none(status: int, line: bytes) -> None:
    assert status_line(status) == line


def test_header_lines_are_written_as_given_and_each_is_ended() -> None:
    assert render_lines([(b"X-aBc", b" 1"), (b"x-abc", b"")]) == b"X-aBc:  1\r\nx-abc: \r\n"
    assert render_lines([]) == b""


@pytest.mark.parametrize(
    ("value", "tokens"),
    [
        (b"close", {b"close"}),
        (b"Keep-Alive , X-Foo", {b"keep-alive", b"x-foo"}),
        (b" ,, close,", {b"close"}),
        (b"", set()),
    ],
)
def test_connection_tokens_are_lower_case_without_blanks(value: bytes, tokens: set[bytes]) -> None:
    assert connection_tokens(value) == tokens


@pytest.mark.parametrize("status", [100, 103, 199, 204, 304])
def test_some_answers_never_have_a_body(status: int) -> None:
    assert has_no_body(status)


@pytest.mark.parametrize("status", [200, 205, 206, 301, 404, 500])
def test_all_others_may_have_one(status: int) -> None:
    assert not has_no_body(status)
