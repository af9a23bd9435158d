"""The coefficients, against the data sheets they come from and the figures they must give."""

from dataclasses import replace

import pytest

from cacheroute.core.engine.engine import Engine
from cacheroute.core.engine.profile import PROFILES, EngineProfile
from cacheroute.core.engine.run import Sequence

_TERA = 1e12
_SHEETS = {  # TFLOP/s, share of it for matrix work, TB/s
    "h100": (989, 0.50, 3.35),
    "a100": (312, 0.55, 2.04),
}


@pytest.mark.parametrize("name", sorted(_SHEETS))
def test_every_coefficient_follows_from_its_data_sheet(name: str) -> None:
    profile = PROFILES[name]
    tflops, linear_share, tbps = _SHEETS[name]

    def near(value: float) -> object:
        return pytest.approx(value, rel=0.01)

    assert profile.linear_s_per_token == near(2 * 7.0e9 / (linear_share * tflops * _TERA))
    assert profile.attention_s_per_pair == near(4 * 32 * 4096 / (0.40 * tflops * _TERA))
    assert profile.kv_read_s_per_token == near(131_072 / (0.70 * tbps * _TERA))
    assert profile.weights_s == near(16e9 / (0.80 * tbps * _TERA))
    assert profile.kv_tokens == near((0.9 * 80 - 16 - 3) * 1e9 / 131_072)
    assert (profile.kv_mb_per_token, profile.cards) == (near(0.131), 1)


def test_every_profile_is_looked_at_here() -> None:
    assert set(PROFILES) == {*_SHEETS, "llama70b"}


def first_token_s(profile: EngineProfile, prompt_tokens: int) -> float:
    engine = Engine(profile)
    run = engine.submit(Sequence(id="a", prompt_tokens=prompt_tokens, output_tokens=1), 0.0)
    engine.step(1e9)
    assert run.first_token_at_s is not None
    return run.first_token_at_s


@pytest.mark.parametrize("tokens", [500, 1000, 2048, 2400, 3801])
def test_a_70b_model_on_eight_cards_reads_prompts_as_fast_as_was_published(tokens: int) -> None:
    published_s = (1.4644916e-3 + 2.15490e-5) * tokens - 3.165789e-2 - 3.254733e-2

    assert first_token_s(PROFILES["llama70b"], tokens) == pytest.approx(published_s, rel=0.05)


def test_beyond_345_tokens_a_token_more_costs_1_49_ms_on_eight_cards() -> None:
    profile = PROFILES["llama70b"]
    slope_s = (first_token_s(profile, 3801) - first_token_s(profile, 345)) / (3801 - 345)

    assert slope_s == pytest.approx(1.486e-3, rel=0.01)


def test_a_70b_model_on_eight_cards_writes_as_fast_as_was_published() -> None:
    profile = PROFILES["llama70b"]

    for context_tokens in (33, 1024):
        step_s = profile.step_s(tokens=1, pairs=0, context_tokens=context_tokens)
        published_s = 2.017646e-7 * context_tokens + 2.394211e-2
        assert step_s == pytest.approx(published_s, rel=0.01)
    assert (profile.kv_mb_per_token, profile.cards) == (0.096, 8)


def test_a_prompt_of_12k_tokens_takes_0_43_seconds_of_compute_on_an_h100() -> None:
    compute_s = PROFILES["h100"].chunk_s(tokens=12_000, context_tokens=0)
    assert compute_s == pytest.approx(0.43, abs=0.01)


def test_a_decode_step_that_reads_the_whole_kv_space_takes_31_ms_on_an_h100() -> None:
    profile = PROFILES["h100"]
    step_s = profile.step_s(tokens=30, pairs=0, context_tokens=profile.kv_tokens)
    assert step_s == pytest.approx(0.0315, abs=0.001)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_profile_that_cannot_be_is_refused_with_its_value(value: float) -> None:
    with pytest.raises(ValueError, match=f"weights_s must be a positive, finite .* {value!r}"):
        replace(PROFILES["h100"], weights_s=value)


def test_a_kv_space_without_room_for_one_block_is_refused() -> None:
    with pytest.raises(ValueError, match="100 tokens has no room for one block of 512"):
        replace(PROFILES["h100"], kv_tokens=100)


def test_a_batch_larger_than_the_step_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot decode for 300"):
        replace(PROFILES["h100"], step_budget_tokens=256, max_running=300)


def test_blocks_are_whole() -> None:
    profile = PROFILES["h100"]
    assert profile.blocks == 789
    assert profile.blocks_for(512) == 1
    assert profile.blocks_for(513) == 2
