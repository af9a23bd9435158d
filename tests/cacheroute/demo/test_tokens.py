import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.demo import tokens

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(_TEXT)
def test_a_text_survives_its_ids(text: str) -> None:
    ids = tokens.ids(tokens.encode(text))
    assert tokens.decode(tokens.stream_of(ids)) == text


@given(_TEXT, _TEXT)
def test_a_text_that_begins_alike_has_tokens_that_begin_alike(head: str, tail: str) -> None:
    whole = tokens.encode(head + tail)
    shared = len(head.encode()) // tokens.TOKEN_BYTES * tokens.TOKEN_BYTES
    assert whole[:shared] == tokens.encode(head)[:shared]


def test_about_four_characters_are_a_token() -> None:
    assert tokens.count(tokens.encode("x" * 400)) == 100
    assert tokens.count(tokens.encode("x" * 401)) == 101
    assert tokens.count(tokens.encode("")) == 0


@pytest.mark.parametrize("bad", [-1, tokens.MAX_ID + 1, 1.5, "a", None])
def test_an_id_that_no_token_has_is_named(bad: object) -> None:
    with pytest.raises(ValueError, match=f"Token id {bad!r} is out of vocabulary"):
        tokens.stream_of([1, bad])  # type: ignore[list-item]


def test_special_tokens_show_their_names() -> None:
    assert tokens.decode(tokens.USER + tokens.encode("hi") + tokens.END) == "<|user|>hi<|end|>"


def test_ids_of_another_tokenizer_turn_into_some_text() -> None:
    assert isinstance(tokens.decode(tokens.stream_of([0, 1, 464, 2**31])), str)


def test_pieces_of_a_text_are_its_tokens() -> None:
    text = "This is an answer."
    stream = tokens.encode(text)
    assert b"".join(tokens.encode(piece) for piece in tokens.cut(text)) == stream
