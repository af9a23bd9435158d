from hypothesis import given
from hypothesis import strategies as st

from cacheroute.demo import prose

_SEEDS = st.integers(0, 2**64 - 1)


@given(_SEEDS, st.integers(0, 5000))
def test_filling_has_the_length_asked_for(seed: int, chars: int) -> None:
    text = prose.filling(seed, chars)
    assert len(text) == chars
    assert text.isascii()


@given(_SEEDS)
def test_an_answer_that_ends_by_itself_is_a_few_whole_sentences(seed: int) -> None:
    text = prose.sentences(seed)
    assert text.endswith(".")
    assert 2 <= text.count(". ") <= 7
    assert prose.sentences(seed) == text


def test_different_prompts_get_different_words() -> None:
    assert len({prose.sentences(seed) for seed in range(200)}) > 100


def test_a_long_answer_begins_like_a_short_one() -> None:
    assert prose.filling(7, 4000).startswith(prose.filling(7, 400))
