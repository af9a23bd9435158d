"""The engine where KV comes from outside, and where requests come late because of it."""

from dataclasses import replace

import pytest

from cacheroute.core.engine.engine import Engine
from cacheroute.core.engine.run import Sequence
from tests.cacheroute.core.engine.test_engine import H100, SMALL, ask, drain


def load(
    name: str, loaded: range, keys: tuple[int, ...] = (1, 2, 3, 4), prompt: int = 70
) -> Sequence:
    return replace(ask(name, prompt, 1, keys), loaded=loaded)


def test_what_was_loaded_from_outside_is_not_computed() -> None:
    engine = Engine(SMALL)
    run = engine.submit(load("a", range(3)), 0.0)
    drain(engine)

    assert (run.cached_tokens, run.loaded_tokens) == (48, 48)
    assert run.prefill_s == pytest.approx(SMALL.chunk_s(tokens=22, context_tokens=48))
    totals = engine.totals
    assert (totals.prefix_hits_tokens, totals.loaded_tokens) == (0, 48)
    assert (totals.prefix_queries_tokens, totals.outside_queries_tokens) == (70, 70)


def test_what_was_loaded_can_be_hit_by_others() -> None:
    engine = Engine(SMALL)
    engine.submit(load("a", range(3)), 0.0)
    other = engine.submit(ask("b", 70, 1, (1, 2, 3, 9)), 0.0)
    drain(engine)

    assert (other.cached_tokens, other.loaded_tokens) == (48, 0)


def test_a_load_goes_on_where_the_prefix_cache_ends() -> None:
    engine = Engine(SMALL)
    engine.submit(ask("before", 33, 1, (1, 2)), 0.0)
    drain(engine)
    run = engine.submit(load("a", range(2, 4)), 1.0)
    drain(engine)

    assert (run.cached_tokens, run.loaded_tokens) == (64, 32)
    assert (engine.totals.prefix_hits_tokens, engine.totals.outside_queries_tokens) == (32, 38)


def test_a_load_behind_a_gap_is_useless() -> None:
    engine = Engine(SMALL)
    run = engine.submit(load("a", range(2, 4)), 0.0)
    drain(engine)

    assert (run.cached_tokens, run.loaded_tokens) == (0, 0)
    assert engine.kv.remembered == 4


def test_what_was_computed_meanwhile_need_not_have_been_loaded() -> None:
    engine = Engine(SMALL)
    engine.submit(ask("before", 65, 1, (1, 2, 3, 4)), 0.0)
    drain(engine)
    run = engine.submit(load("a", range(1, 3)), 1.0)
    drain(engine)

    assert (run.cached_tokens, run.loaded_tokens) == (64, 0)


@pytest.mark.parametrize("loaded", [range(4), range(100)])
def test_the_last_prompt_token_is_computed_whatever_was_loaded(loaded: range) -> None:
    engine = Engine(SMALL)
    run = engine.submit(load("a", loaded, prompt=64), 0.0)
    drain(engine)

    assert run.cached_tokens == 48


def test_two_loads_of_the_same_blocks_leak_none() -> None:
    engine = Engine(SMALL)
    engine.submit(ask("running", 120, 1), 0.0)
    runs = [engine.submit(load(name, range(4)), 0.0) for name in "ab"]
    drain(engine)

    assert [run.cached_tokens for run in runs] == [64, 64]
    assert (engine.kv.held, engine.kv.remembered) == (0, 4)


def test_an_outside_that_has_nothing_was_asked_all_the_same() -> None:
    engine = Engine(SMALL)
    engine.submit(load("a", range(0)), 0.0)
    drain(engine)

    assert (engine.totals.outside_queries_tokens, engine.totals.loaded_tokens) == (70, 0)


def test_a_request_that_is_submitted_late_begins_when_it_would_have() -> None:
    engine = Engine(H100)
    engine.submit(ask("before", 10, 1), 0.0)
    drain(engine)
    late = engine.submit(ask("late", 10, 1), 1.0)
    (token,) = engine.step(5.0)

    assert late.scheduled_at_s == 1.0
    assert token.at_s == pytest.approx(1.0 + H100.overhead_s + H100.weights_s)


def test_a_request_that_is_submitted_too_late_begins_behind_the_last_step() -> None:
    engine = Engine(H100)
    engine.submit(ask("before", 10, 1), 1.0)
    (before,) = engine.step(5.0)
    late = engine.submit(ask("late", 10, 1), 0.5)

    assert late.scheduled_at_s == before.at_s
