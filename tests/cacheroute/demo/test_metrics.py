import re
from dataclasses import replace
from pathlib import Path

import pytest

from cacheroute.core.engine.engine import Engine
from cacheroute.core.engine.profile import PROFILES
from cacheroute.core.engine.run import Sequence
from cacheroute.demo.metrics import VllmMetrics

PAGE = (Path(__file__).parent / "vllm-0.32-metrics.txt").read_text()


def labels_of(page: str) -> dict[str, set[tuple[str, ...]]]:
    """Return the label names of every sample, by metric name."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for name, labels in re.findall(r"^([a-z:_0-9]+)(?:{(.*)})? ", page, re.MULTILINE):
        found.setdefault(name, set()).add(tuple(re.findall(r"(\w+)=", labels)))
    return found


def values_of(metrics: VllmMetrics) -> dict[str, float]:
    lines = metrics.render().decode().splitlines()
    pairs = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
    return {name: float(value) for name, value in pairs}


def make(speed: float = 1.0) -> tuple[Engine, VllmMetrics]:
    profile = replace(PROFILES["h100"], block_tokens=16, kv_tokens=16 * 100)
    engine = Engine(profile)
    return engine, VllmMetrics(engine, model="tiny", created_at_s=5.0, speed=lambda: speed)


def finish(engine: Engine, metrics: VllmMetrics, sequence: Sequence, now: float) -> None:
    run = engine.submit(sequence, now)
    previous: float | None = None
    for token in engine.step(1e9):
        metrics.on_token(run, token.at_s, previous)
        previous = token.at_s
    metrics.on_finished(run, "length")


def test_every_sample_has_the_labels_of_vllm() -> None:
    ours, theirs = labels_of(make()[1].render().decode()), labels_of(PAGE)
    config = "vllm:cache_config_info"
    assert set(ours.pop(config).pop()) <= set(theirs[config].pop())
    for name, labels in ours.items():
        if not name.endswith("_created"):
            assert labels == theirs[name], name


def test_a_prefix_is_counted_in_tokens() -> None:
    engine, metrics = make()
    for n in range(2):
        sequence = Sequence(id=str(n), prompt_tokens=40, output_tokens=3, keys=(1, 2))
        finish(engine, metrics, sequence, float(n))
    values = values_of(metrics)
    both = '{engine="0",model_name="tiny"}'
    assert values["vllm:prefix_cache_queries_total" + both] == 80
    assert values["vllm:prefix_cache_hits_total" + both] == 32
    assert values["vllm:prompt_tokens_cached_total" + both] == 32
    assert values["vllm:generation_tokens_total" + both] == 6
    source = '{engine="0",model_name="tiny",source="local_cache_hit"}'
    assert values["vllm:prompt_tokens_by_source_total" + source] == 32
    length = '{engine="0",finished_reason="length",model_name="tiny"}'
    assert values["vllm:request_success_total" + length] == 2
    assert values["vllm:time_to_first_token_seconds_count" + both] == 2
    assert values["vllm:inter_token_latency_seconds_count" + both] == 4
    assert values["vllm:request_prefill_kv_computed_tokens_sum" + both] == 48


def test_what_came_from_outside_is_counted_apart() -> None:
    engine, metrics = make()
    for n, loaded in enumerate([range(2), None]):
        sequence = Sequence(
            id=str(n), prompt_tokens=60, output_tokens=1, keys=(1, 2, 3), loaded=loaded
        )
        finish(engine, metrics, sequence, float(n))
    values = values_of(metrics)
    both = '{engine="0",model_name="tiny"}'
    assert values["vllm:external_prefix_cache_queries_total" + both] == 60
    assert values["vllm:external_prefix_cache_hits_total" + both] == 32
    assert values["vllm:prefix_cache_hits_total" + both] == 48
    assert values["vllm:prompt_tokens_cached_total" + both] == 80
    for source, tokens in [
        ("local_compute", 40), ("local_cache_hit", 48), ("external_kv_transfer", 32)
    ]:  # fmt: skip
        labels = both.replace("}", f',source="{source}"}}')
        assert values["vllm:prompt_tokens_by_source_total" + labels] == tokens


def test_the_wait_for_the_outside_is_part_of_the_wait_for_the_first_token() -> None:
    engine, metrics = make()
    sequence = Sequence(id="a", prompt_tokens=10, output_tokens=1, loaded=range(0), asked_at_s=3.0)
    finish(engine, metrics, sequence, 5.0)
    values = values_of(metrics)
    both = '{engine="0",model_name="tiny"}'
    assert values["vllm:time_to_first_token_seconds_sum" + both] == pytest.approx(2.009)
    assert values["vllm:e2e_request_latency_seconds_sum" + both] == pytest.approx(2.009)
    assert values["vllm:request_queue_time_seconds_sum" + both] == pytest.approx(2.0)


def test_what_waits_for_the_outside_is_deferred() -> None:
    engine = Engine(PROFILES["h100"])
    metrics = VllmMetrics(
        engine, model="tiny", created_at_s=5.0, speed=lambda: 1.0, loading=lambda: 3
    )
    values = values_of(metrics)
    assert values['vllm:num_requests_waiting{engine="0",model_name="tiny"}'] == 3
    reason = '{engine="0",model_name="tiny",reason="deferred"}'
    assert values["vllm:num_requests_waiting_by_reason" + reason] == 3


@pytest.mark.parametrize("speed", [1.0, 20.0])
def test_times_are_those_of_a_real_clock(speed: float) -> None:
    engine, metrics = make(speed)
    sequence = Sequence(id="a", prompt_tokens=100, output_tokens=2)
    finish(engine, metrics, sequence, 0.0)
    model_s = engine.totals.busy_s
    name = 'vllm:e2e_request_latency_seconds_sum{engine="0",model_name="tiny"}'
    assert values_of(metrics)[name] == pytest.approx(model_s / speed)


def test_what_waits_and_runs_is_a_gauge() -> None:
    engine, metrics = make()
    for n in range(3):
        engine.submit(Sequence(id=str(n), prompt_tokens=600, output_tokens=200), 0.0)
    values = values_of(metrics)
    assert values['vllm:num_requests_running{engine="0",model_name="tiny"}'] == 1
    assert values['vllm:num_requests_waiting{engine="0",model_name="tiny"}'] == 2
    assert values['vllm:kv_cache_usage_perc{engine="0",model_name="tiny"}'] == 0.5


def test_parameters_and_rejections_are_counted() -> None:
    _, metrics = make()
    metrics.on_asked(choices=2, max_tokens=50)
    metrics.on_asked(choices=1, max_tokens=None)
    metrics.on_rejected()
    values = values_of(metrics)
    both = '{engine="0",model_name="tiny"}'
    assert values["vllm:request_params_n_sum" + both] == 3
    assert values["vllm:request_params_max_tokens_count" + both] == 1
    rejected = 'vllm:admission_rejections_total{model_name="tiny",reason="max_num_queued_reqs"}'
    assert values[rejected] == 1
