"""The engine against closed forms, and its promises under random use."""

from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cacheroute.core.engine.engine import Engine, Token
from cacheroute.core.engine.profile import PROFILES
from cacheroute.core.engine.run import Run, Sequence

H100 = PROFILES["h100"]
SMALL = replace(H100, kv_tokens=64 * 16, block_tokens=16, step_budget_tokens=128, max_running=4)


def ask(name: str, prompt: int, output: int, keys: tuple[int, ...] = ()) -> Sequence:
    return Sequence(id=name, prompt_tokens=prompt, output_tokens=output, keys=keys)


def drain(engine: Engine, *, limit: int = 100_000) -> list[Token]:
    """Step until there is nothing left to do."""
    tokens: list[Token] = []
    for _ in range(limit):
        due = engine.next_step_at()
        if due is None:
            return tokens
        tokens += engine.step(due)
    raise AssertionError(f"still busy after {limit} steps")


def ttft_s(run: Run) -> float:
    assert run.first_token_at_s is not None
    return run.first_token_at_s - run.submitted_at_s


def test_one_prompt_takes_its_chunks_and_then_a_step_for_each_token() -> None:
    engine = Engine(H100)
    run = engine.submit(ask("a", 5000, 3), 10.0)
    tokens = drain(engine)

    prefill_s = H100.chunk_s(tokens=5000, context_tokens=0) + 3 * H100.overhead_s
    decode_s = [H100.step_s(tokens=1, pairs=0, context_tokens=context) for context in (5000, 5001)]
    assert [token.number for token in tokens] == [1, 2, 3]
    assert [token.finished for token in tokens] == [False, False, True]
    assert ttft_s(run) == pytest.approx(prefill_s)
    assert tokens[-1].at_s == pytest.approx(10.0 + prefill_s + sum(decode_s))
    assert run.prefill_s == pytest.approx(H100.chunk_s(tokens=5000, context_tokens=0))
    assert engine.totals.steps == 5


def test_a_common_prefix_shortens_the_first_token_and_the_compute() -> None:
    engine = Engine(H100)
    cold = engine.submit(ask("cold", 4096 + 100, 1, tuple(range(8))), 0.0)
    drain(engine)
    warm = engine.submit(ask("warm", 4096 + 100, 1, tuple(range(8))), 5.0)
    drain(engine)

    assert cold.cached_tokens == 0
    assert warm.cached_tokens == 4096
    assert ttft_s(warm) < ttft_s(cold) / 5
    assert warm.prefill_s == pytest.approx(H100.chunk_s(tokens=100, context_tokens=4096))
    assert engine.totals.prefix_queries_tokens == 2 * 4196
    assert engine.totals.prefix_hits_tokens == 4096


def test_the_answer_is_part_of_the_prefix_of_the_next_turn() -> None:
    engine = Engine(SMALL)
    engine.submit(ask("turn-1", 40, 25, (1, 2, 3, 4)), 0.0)  # 64 of its 65 tokens get KV
    drain(engine)
    second = engine.submit(ask("turn-2", 100, 1, (1, 2, 3, 4, 5, 6)), 1.0)
    drain(engine)
    assert second.cached_tokens == 64


def test_the_last_prompt_token_is_always_computed() -> None:
    engine = Engine(SMALL)
    for name in ("a", "b"):
        run = engine.submit(ask(name, 32, 1, (1, 2)), 0.0)
        drain(engine)
    assert run.cached_tokens == 16


def test_two_cold_requests_with_one_prefix_do_not_hit_each_other_in_the_same_step() -> None:
    engine = Engine(H100)
    engine.submit(ask("running", 2048, 1), 0.0)
    a = engine.submit(ask("a", 1024, 1, (1, 2)), 0.0)
    b = engine.submit(ask("b", 1024, 1, (1, 2)), 0.0)
    drain(engine)
    assert a.scheduled_at_s == b.scheduled_at_s
    assert (a.cached_tokens, b.cached_tokens) == (0, 0)
    assert engine.kv.held == 0
    assert engine.kv.remembered == 2


def test_decodes_go_on_while_a_long_prompt_is_cut_into_chunks() -> None:
    engine = Engine(H100)
    engine.submit(ask("chat", 100, 50), 0.0)
    engine.step(engine.next_step_at() or 0.0)
    engine.submit(ask("book", 20_000, 1), 0.01)
    tokens = drain(engine)
    before_the_book = [t for t in tokens if t.run.sequence.id == "chat"]
    book = next(t for t in tokens if t.run.sequence.id == "book")
    assert len([t for t in before_the_book if t.at_s <= book.at_s]) >= 9


def test_a_running_prompt_goes_before_one_that_waits() -> None:
    engine = Engine(H100)
    long = engine.submit(ask("long", 10_000, 1), 0.0)
    short = engine.submit(ask("short", 10, 1), 0.0)
    drain(engine)
    assert short.scheduled_at_s is not None
    assert long.first_token_at_s == short.first_token_at_s
    assert short.scheduled_at_s > 0.0


def test_a_request_waits_until_prompt_and_answer_fit() -> None:
    engine = Engine(SMALL)
    engine.submit(ask("big", 600, 200), 0.0)
    waits = engine.submit(ask("other", 300, 10), 0.0)
    engine.step(engine.next_step_at() or 0.0)
    assert (engine.running, engine.waiting) == (1, 1)
    tokens = drain(engine)
    big_done = next(t.at_s for t in tokens if t.run.sequence.id == "big" and t.finished)
    assert waits.scheduled_at_s == big_done


def test_a_request_that_can_never_fit_is_refused() -> None:
    engine = Engine(SMALL)
    assert not engine.fits(64 * 16 + 1)
    with pytest.raises(ValueError, match="1025 tokens can never fit"):
        engine.submit(ask("huge", 1024, 1), 0.0)
    assert engine.next_step_at() is None


def test_an_id_in_use_is_refused() -> None:
    engine = Engine(SMALL)
    engine.submit(ask("a", 10, 1), 0.0)
    with pytest.raises(ValueError, match="'a' is in use"):
        engine.submit(ask("a", 10, 1), 0.0)


def test_the_batch_has_a_bound() -> None:
    engine = Engine(SMALL)
    for n in range(6):
        engine.submit(ask(str(n), 10, 5), 0.0)
    engine.step(engine.next_step_at() or 0.0)
    assert (engine.running, engine.waiting) == (4, 2)


def test_a_prompt_alone_gives_one_event_without_a_token() -> None:
    engine = Engine(H100)
    run = engine.submit(ask("embed", 300, 0), 0.0)
    (only,) = drain(engine)
    assert (only.number, only.finished) == (0, True)
    assert run.first_token_at_s is None
    assert engine.totals.generation_tokens == 0


@pytest.mark.parametrize("after_steps", [0, 1, 3])
def test_an_aborted_request_frees_its_blocks_and_says_nothing_more(after_steps: int) -> None:
    engine = Engine(SMALL)
    engine.submit(ask("a", 200, 50, tuple(range(12))), 0.0)
    for _ in range(after_steps):
        engine.step(engine.next_step_at() or 0.0)
    assert engine.abort("a", 0.5)
    assert not engine.abort("a", 0.5)
    assert drain(engine) == []
    assert (engine.running, engine.waiting, engine.kv.held) == (0, 0, 0)


def test_an_aborted_waiting_request_is_forgotten() -> None:
    engine = Engine(SMALL)
    engine.submit(ask("a", 600, 200), 0.0)
    engine.submit(ask("b", 600, 200), 0.0)
    assert engine.abort("b", 0.0)
    assert (engine.running, engine.waiting) == (1, 0)


def test_a_late_caller_gets_every_step_at_its_own_time() -> None:
    prompt, late = Engine(H100), Engine(H100)
    for engine in (prompt, late):
        engine.submit(ask("a", 3000, 20), 0.0)
    exact = [(t.number, t.at_s) for t in drain(prompt)]
    assert [(t.number, t.at_s) for t in late.step(1e9)] == exact


def test_a_request_queued_behind_a_late_step_is_not_served_before_it_came() -> None:
    engine = Engine(H100)
    engine.submit(ask("a", 100, 3), 0.0)
    late = engine.submit(ask("b", 100, 3), 100.0)
    engine.step(1e9)
    assert late.scheduled_at_s == 100.0


def test_use_falls_to_zero_when_idle_although_prefixes_are_remembered() -> None:
    engine = Engine(SMALL)
    engine.submit(ask("a", 64, 4, (1, 2, 3, 4)), 0.0)
    assert engine.kv_usage_ratio > 0
    drain(engine)
    assert engine.kv_usage_ratio == 0.0
    assert engine.kv.remembered == 4


class Submit(NamedTuple):
    conversation: int
    prompt: int
    output: int
    loaded: range | None


class Abort(NamedTuple):
    name: int


class Wait(NamedTuple):
    seconds: float


_ACTIONS = st.lists(
    st.one_of(
        st.builds(
            Submit,
            st.integers(0, 3),
            st.integers(1, 500),
            st.integers(0, 60),
            st.none() | st.builds(range, st.integers(0, 4), st.integers(0, 40)),
        ),
        st.builds(Abort, st.integers(0, 40)),
        st.builds(Wait, st.floats(0.0, 0.2)),
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(_ACTIONS)
def test_random_use_leaks_no_block_and_time_never_goes_back(
    actions: list[tuple[str, object]],
) -> None:
    engine = Engine(SMALL)
    now, last_at_s = 0.0, 0.0
    runs: dict[str, Run] = {}
    aborted: set[str] = set()
    seen: dict[str, int] = {}

    def note(tokens: list[Token]) -> None:
        nonlocal last_at_s
        for token in tokens:
            name = token.run.sequence.id
            assert token.at_s >= last_at_s
            assert name not in aborted
            assert token.number == seen.get(name, 0) + bool(token.run.sequence.output_tokens)
            assert token.finished == (token.number == token.run.sequence.output_tokens)
            seen[name] = token.number
            last_at_s = token.at_s

    for action in actions:
        match action:
            case Submit(conversation, prompt, output, loaded):
                name = str(len(runs))
                keys = tuple(conversation * 1000 + n for n in range((prompt + output) // 16))
                asked = replace(ask(name, prompt, output, keys), loaded=loaded)
                runs[name] = engine.submit(asked, now)
            case Abort(number):
                if engine.abort(str(number), now):
                    aborted.add(str(number))
            case Wait(seconds):
                now += seconds
                note(engine.step(now))
        kv = engine.kv
        assert kv.held + kv.remembered + kv.free == kv.capacity
        assert min(kv.held, kv.remembered, kv.free) >= 0
    note(drain(engine))

    assert (engine.kv.held, engine.running, engine.waiting) == (0, 0, 0)
    done = [run for name, run in runs.items() if name not in aborted]
    assert all(run.emitted_tokens == run.sequence.output_tokens for run in done)
    scheduled = [run for run in runs.values() if run.scheduled_at_s is not None]
    totals = engine.totals
    assert totals.finished == len(done)
    assert totals.aborted == len(aborted)
    assert totals.loaded_tokens == sum(run.loaded_tokens for run in scheduled)
    cached_tokens = sum(run.cached_tokens for run in scheduled)
    assert totals.prefix_hits_tokens + totals.loaded_tokens == cached_tokens
    assert totals.prefix_queries_tokens == sum(run.sequence.prompt_tokens for run in scheduled)
    assert totals.prompt_tokens >= sum(run.sequence.prompt_tokens for run in done)
    for run in scheduled:
        assert run.cached_tokens < run.sequence.prompt_tokens
        assert run.cached_tokens % 16 == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 15))
def test_a_longer_common_prefix_never_makes_the_first_token_later(shared: int, tail: int) -> None:
    prompt = 40 * 16 + tail
    firsts = []
    for hit_blocks in (0, shared):
        engine = Engine(SMALL)
        keys = tuple(range(40))
        if hit_blocks:
            engine.submit(ask("before", hit_blocks * 16 + 1, 1, keys[:hit_blocks]), 0.0)
            drain(engine)
        run = engine.submit(ask("a", prompt, 1, keys), 9.0)
        drain(engine)
        assert run.cached_tokens == hit_blocks * 16
        firsts.append(ttft_s(run))
    assert firsts[1] < firsts[0]
