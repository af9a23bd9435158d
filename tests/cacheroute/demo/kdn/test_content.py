import hashlib

import pytest

from cacheroute.demo.kdn.content import MAX_TEXT_CHARS, asked_for, kid_of, normalise
from cacheroute.demo.kdn.refused import Refused


@pytest.mark.parametrize("text", ["a\nb", " a\r\nb\n\n", "\r\na\r\nb\r\n"])
def test_the_same_text_has_the_same_id_however_its_lines_end(text: str) -> None:
    assert normalise(text) == "a\nb"
    assert kid_of(normalise(text)) == hashlib.sha256(b"a\nb").hexdigest()


def test_a_lone_carriage_return_is_part_of_the_text() -> None:
    assert normalise("a\rb") == "a\rb"


@pytest.mark.parametrize(("text", "status"), [("", 400), (" \r\n", 400), ("x" * 262_145, 413)])
def test_a_text_that_is_none_and_one_too_long_are_refused(text: str, status: int) -> None:
    with pytest.raises(Refused) as refused:
        normalise(text)
    assert refused.value.status == status


def test_the_longest_text_is_taken() -> None:
    assert len(normalise("x" * MAX_TEXT_CHARS + "\n")) == MAX_TEXT_CHARS


def test_ids_are_trimmed_and_lower_case_and_stay_in_order() -> None:
    assert asked_for([" AB ", "cd", "ab"]) == ["ab", "cd", "ab"]
