"""Questions from a seed: their texts, lengths and times."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.demo import tokens
from cacheroute.demo.kdn.content import kid_of, normalise
from cacheroute.demo.knowledge.mix import (
    LONGEST_TOKENS,
    PROMPT_TOKENS,
    SHORTEST_TOKENS,
    duration_s,
    make_questions,
    prose,
    spread,
)


def test_a_seed_makes_the_same_questions_again_and_another_makes_others() -> None:
    questions = make_questions(5, seed=1, per_second=1.0)

    assert make_questions(5, seed=1, per_second=1.0) == questions
    assert {q.kid for q in make_questions(5, seed=2, per_second=1.0)}.isdisjoint(
        q.kid for q in questions
    )


def test_every_question_has_a_text_of_its_own_from_its_first_words_on() -> None:
    questions = make_questions(200, seed=1, per_second=1.0)

    assert len({q.text[:100] for q in questions}) == 200
    assert len({q.prompt for q in questions}) == 200
    assert [q.number for q in questions] == list(range(1, 201))


def test_a_knowledge_node_calls_the_text_by_the_same_id() -> None:
    [question] = make_questions(1, seed=1, per_second=1.0)

    assert normalise(question.text) == question.text
    assert question.kid == kid_of(question.text)


def test_half_of_the_texts_are_short_and_half_are_long() -> None:
    lengths = [q.text_tokens for q in make_questions(40, seed=3, per_second=1.0)]

    assert sum(length < 500 for length in lengths) == 20
    assert min(lengths) >= SHORTEST_TOKENS
    assert max(lengths) <= LONGEST_TOKENS
    assert lengths != sorted(lengths)


@given(st.integers(1, 200), st.integers(1, 2000))
def test_lengths_rise_within_their_bounds(count: int, shortest: int) -> None:
    lengths = spread(count, shortest)

    assert len(lengths) == count
    assert lengths == sorted(lengths)
    assert shortest <= lengths[0] <= lengths[-1] <= LONGEST_TOKENS


@given(st.integers(1, 3000), st.integers())
def test_a_text_has_exactly_the_tokens_it_should(length: int, seed: int) -> None:
    text = prose(length, random.Random(seed))

    assert tokens.count(tokens.encode(text)) == length
    assert text == text.strip()


def test_prompts_are_short() -> None:
    for question in make_questions(50, seed=1, per_second=1.0):
        length = tokens.count(tokens.encode(question.prompt))
        assert PROMPT_TOKENS[0] <= length <= PROMPT_TOKENS[1]


def test_they_arrive_one_after_the_other_at_the_rate_that_was_asked_for() -> None:
    questions = make_questions(2000, seed=1, per_second=4.0)

    assert questions[0].arrives_s == 0.0
    assert all(a.arrives_s < b.arrives_s for a, b in pairwise(questions))
    assert duration_s(questions) == pytest.approx(500, rel=0.1)


def test_no_question_takes_no_time() -> None:
    assert duration_s(()) == 0.0
