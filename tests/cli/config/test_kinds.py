"""Values of each kind are taken, and what is none is a sentence that goes on behind its key."""

import pytest

from cacheroute_cli.config import kinds
from cacheroute_cli.config.kinds import Kind

TAKEN: list[tuple[Kind, object, object]] = [
    (kinds.text(), "lab", "lab"),
    (kinds.url(), "127.0.0.1:8002", "http://127.0.0.1:8002"),
    (kinds.url(), "https://h/base/", "https://h/base"),
    (kinds.flag(), True, True),
    (kinds.number(0, 5), 5, 5),
    (kinds.number(0, 5), 0.5, 0.5),
    (kinds.choice("a", "b"), "b", "b"),
    (kinds.texts(), ["id", "state"], ("id", "state")),
    (kinds.band(0, 100), [75, 95.5], (75, 95.5)),
]


@pytest.mark.parametrize(("kind", "said", "value"), TAKEN)
def test_what_is_of_its_kind_is_taken(kind: Kind, said: object, value: object) -> None:
    assert kind.read(said) == value


@pytest.mark.parametrize(
    ("kind", "said", "sentence"),
    [
        (kinds.text(), "", "must be a text, not ''"),
        (kinds.text(), 3, "must be a text, not 3"),
        (kinds.text(5), "abcdef", "must be a line of at most 5 characters"),
        (kinds.text(), "a\x1b[2J", "must be a line of at most 200 characters"),
        (kinds.url(), 8002, "must be a URL, not 8002"),
        (kinds.url(), "ftp://x", "must be a URL such as http://host:port, not 'ftp://x'"),
        (kinds.flag(), "yes", "must be true or false, not 'yes'"),
        (kinds.flag(), 1, "must be true or false, not 1"),
        (kinds.number(0, 5), True, "must be a number, not true"),
        (kinds.number(0, 5), float("nan"), "must be a number, not nan"),
        (kinds.number(0, 5), "1", "must be a number, not '1'"),
        (kinds.number(0.2, 5), 0.1, "must be between 0.2 and 5, not 0.1"),
        (kinds.choice("a", "b"), "c", "must be one of a, b, not 'c'"),
        (kinds.choice("a", "b"), ["a"], "must be one of a, b, not ['a']"),
        (kinds.texts(), "id,state", "must be a list of texts, not 'id,state'"),
        (kinds.texts(), [1], "must be a list of texts, not [1]"),
        (kinds.texts(1), ["a", "b"], "must have at most 1 entries, not 2"),
        (kinds.band(0, 100), [1], "must be two numbers, to warn at and to be bad, not [1]"),
        (kinds.band(0, 100), [95, 75], "must have the lower number first, not [95, 75]"),
        (kinds.band(0, 100), [1, 101], "must be between 0 and 100, not 101"),
    ],
)
def test_what_is_none_is_told_in_a_sentence(kind: Kind, said: object, sentence: str) -> None:
    with pytest.raises(ValueError) as raised:
        kind.read(said)

    assert str(raised.value) == sentence


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (kinds.flag(), "1", True),
        (kinds.flag(), "Off", False),
        (kinds.number(0), "0.5", 0.5),
        (kinds.texts(), "a,b", ("a", "b")),
        (kinds.choice("a"), "a", "a"),
    ],
)
def test_the_text_of_a_variable_is_read_as_a_file_would_say_it(
    kind: Kind, text: str, value: object
) -> None:
    assert kind.read(kind.from_text(text)) == value


@pytest.mark.parametrize(("kind", "text"), [(kinds.flag(), "maybe"), (kinds.number(0), "soon")])
def test_the_text_of_a_variable_that_is_no_value_is_shown_as_it_is(kind: Kind, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        kind.read(kind.from_text(text))


def test_a_long_value_is_cut_in_a_sentence() -> None:
    assert len(kinds.shown("x" * 1000)) == 60
