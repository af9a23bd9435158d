from hypothesis import given
from hypothesis import strategies as st

from cacheroute.demo.scheduler.lexicon import Lexicon, words_of

TEXTS = {
    "a": "The prefill phase computes the KV cache of a whole prompt at once.",
    "b": "The decode phase writes one token after the other, and reads the KV cache.",
    "c": "A bakery opens before dawn; the bread is warm.",
}


def ids(question: str, count: int = 3, texts: dict[str, str] = TEXTS) -> list[str]:
    return [match.text_id for match in Lexicon(texts).best(question, count)]


def test_the_text_with_the_rarest_shared_words_comes_first() -> None:
    assert ids("How does the decode phase use the KV cache?") == ["b", "a"]


def test_a_text_that_shares_nothing_is_never_found() -> None:
    assert ids("Who won the cup?") == []
    assert ids("") == []
    assert ids("what is the") == []


def test_only_as_many_as_wanted_are_found() -> None:
    assert ids("KV cache", 1) == ["a"]


def test_texts_that_fit_equally_come_in_the_order_of_their_ids() -> None:
    assert ids("bread", texts={"z": "bread", "y": "bread", "x": "bread"}) == ["x", "y", "z"]


def test_case_and_signs_do_not_matter() -> None:
    assert words_of("What IS a KV-cache?") == ["kv", "cache"]


def test_a_question_that_is_the_text_scores_one() -> None:
    [match] = Lexicon(TEXTS).best(TEXTS["c"], 1)

    assert (match.text_id, round(match.score, 9)) == ("c", 1.0)


def test_without_texts_nothing_is_found() -> None:
    assert Lexicon({}).best("anything", 3) == []


@given(st.dictionaries(st.sampled_from("abcdef"), st.text(max_size=40)), st.text(max_size=40))
def test_scores_are_shares_in_falling_order(texts: dict[str, str], question: str) -> None:
    scores = [match.score for match in Lexicon(texts).best(question, 6)]

    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
