"""What is asked, in which order, and how long a prompt becomes."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.client.measure_plan import WARM_UPS, Counting, Plan, Shot, words


def shots_of(plan: Plan, seed: int = 1) -> list[Shot]:
    return list(plan.shots(random.Random(seed)))


def test_about_forty_requests_is_the_default() -> None:
    plan = Plan()

    assert plan.requests == len(WARM_UPS) + 40
    assert sum(length < 100 for length in plan.lengths) == 3


@given(
    lengths=st.lists(st.integers(1, 4000), min_size=1, max_size=6, unique=True),
    samples=st.integers(1, 5),
    contexts=st.lists(st.integers(1, 4000), max_size=3, unique=True),
    batches=st.lists(st.integers(2, 6), max_size=3, unique=True),
)
def test_the_count_is_that_of_the_shots(
    lengths: list[int], samples: int, contexts: list[int], batches: list[int]
) -> None:
    plan = Plan(
        lengths=tuple(lengths),
        samples=samples,
        contexts=tuple(contexts),
        batches=tuple(batches),
    )
    sent = sum(shot.batch for shot in shots_of(plan))

    assert sent + len(WARM_UPS) + len(contexts) == plan.requests


def test_every_round_has_every_length_in_an_order_of_its_own() -> None:
    plan = Plan(batches=())
    lengths = [shot.tokens for shot in shots_of(plan)]
    rounds = [lengths[at : at + len(plan.lengths)] for at in range(0, len(lengths), 8)]

    assert all(sorted(one) == list(plan.lengths) for one in rounds)
    assert len(set(map(tuple, rounds))) > 1


def test_each_batch_size_is_seen_four_times_in_short_prompts() -> None:
    groups = [shot for shot in shots_of(Plan()) if shot.batch > 1]

    sent: Counter[int] = Counter()
    for shot in groups:
        sent[shot.batch] += shot.batch

    assert sent == {2: 4, 4: 4}
    assert {shot.tokens for shot in groups} == {64}


def test_contexts_come_with_every_length() -> None:
    shots = shots_of(Plan(lengths=(8, 16), contexts=(100,), samples=1, batches=()))

    assert sorted((shot.tokens, shot.context_tokens) for shot in shots) == [
        (8, 0),
        (8, 100),
        (16, 0),
        (16, 100),
    ]


@given(per_word=st.floats(0.5, 4), template=st.integers(0, 60), tokens=st.integers(100, 5000))
def test_prompts_have_the_wanted_length_as_the_engine_counts(
    per_word: float, template: int, tokens: int
) -> None:
    def counted(count: int) -> int:
        return template + round(per_word * count)

    counting = Counting.of((16, counted(16)), (160, counted(160)))

    assert counted(counting.words(tokens)) == pytest.approx(tokens, rel=0.05, abs=4)


def test_a_length_below_the_template_is_one_word() -> None:
    counting = Counting.of((16, 56), (160, 200))

    assert counting.words(5) == 1
    assert counting.context_words(200) == 200


def test_an_engine_that_counts_oddly_ends_in_no_endless_prompt() -> None:
    counting = Counting.of((16, 100), (160, 100))

    assert counting.words(1000) <= 4000


def test_two_prompts_have_no_common_beginning() -> None:
    chance = random.Random(7)
    beginnings = {tuple(words(40, chance).split()[:4]) for _ in range(200)}

    assert len(beginnings) == 200
    assert words(40, random.Random(7)) == words(40, random.Random(7))
