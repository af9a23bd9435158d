"""Metrics pages of the engines there are, whole, broken and foreign."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.formats.engine_metrics import ENGINES, EngineStats, read_engine_metrics
from tests.cacheroute.attach import captured


def test_a_page_of_vllm_tells_its_load_its_kv_and_its_requests() -> None:
    page = captured.metrics(running=3, waiting=2, kv_usage=0.25, finished=41).decode()

    stats = read_engine_metrics(page)

    assert (stats.kind, stats.running, stats.waiting) == ("vllm", 3, 2)
    assert (stats.kv_usage_ratio, stats.finished) == (0.25, 41.0)
    assert stats.cache_config["block_size"] == "32"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (
            'sglang:num_running_reqs{model_name="m"} 4.0\n'
            'sglang:num_queue_reqs{model_name="m"} 1.0\n'
            'sglang:token_usage{model_name="m"} 0.28\n'
            'sglang:num_requests_total{model_name="m"} 7.0\n',
            EngineStats(kind="sglang", running=4, waiting=1, kv_usage_ratio=0.28, finished=7.0),
        ),
        (
            "llamacpp:requests_processing 1\nllamacpp:requests_deferred 5\n",
            EngineStats(kind="llama.cpp", running=1, waiting=5),
        ),
        (
            "tgi_batch_current_size 2\ntgi_queue_size 0\ntgi_request_count 8\n",
            EngineStats(kind="tgi", running=2, waiting=0, finished=8.0),
        ),
        (
            "vllm:num_requests_running 1\nvllm:num_requests_waiting 2\n"
            "vllm:num_requests_swapped 3\nvllm:gpu_cache_usage_perc 0.5\n",
            EngineStats(kind="vllm", running=1, waiting=5, kv_usage_ratio=0.5),
        ),
    ],
)
def test_each_kind_of_engine_is_read_in_its_own_words(page: str, expected: EngineStats) -> None:
    assert read_engine_metrics(page) == expected


def test_engines_of_one_server_are_added_up_and_the_fullest_one_counts() -> None:
    page = (
        'vllm:num_requests_running{engine="0"} 1\nvllm:num_requests_running{engine="1"} 2\n'
        'vllm:kv_cache_usage_perc{engine="0"} 0.1\nvllm:kv_cache_usage_perc{engine="1"} 0.9\n'
    )

    stats = read_engine_metrics(page)

    assert (stats.running, stats.waiting, stats.kv_usage_ratio) == (3, None, 0.9)


def test_a_metric_whose_name_only_begins_alike_is_another_one() -> None:
    page = (
        'vllm:num_requests_waiting{engine="0"} 2\n'
        'vllm:num_requests_waiting_by_reason{reason="capacity"} 2\n'
    )

    assert read_engine_metrics(page).waiting == 2


@pytest.mark.parametrize(
    ("line", "running"),
    [
        ("vllm:num_requests_running 2e0", 2),
        ("vllm:num_requests_running 2 1796010190000", 2),
        ('vllm:num_requests_running{a="}",b="\\"x y\\" 9"} 2', 2),
        ('vllm:num_requests_running{a="x", } 2', 2),
        ("vllm:num_requests_running NaN", None),
        ("vllm:num_requests_running -1", None),
        ("vllm:num_requests_running +Inf", None),
        ("vllm:num_requests_running 1e300", None),
        ("vllm:num_requests_running two", None),
        ("vllm:num_requests_running", None),
        ('vllm:num_requests_running{a="x 2', None),
    ],
)
def test_a_line_that_makes_no_sense_spoils_no_other(line: str, running: int | None) -> None:
    stats = read_engine_metrics(f"{line}\nvllm:num_requests_waiting 1\n")

    assert (stats.running, stats.waiting) == (running, 1)


@pytest.mark.parametrize(
    "page", ["", "<html>vllm:num_requests_running 1</html>", "process_cpu_seconds_total 5\n"]
)
def test_what_is_no_page_of_an_engine_says_nothing(page: str) -> None:
    assert read_engine_metrics(page) == EngineStats()


def test_labels_are_read_as_they_were_meant() -> None:
    page = 'vllm:cache_config_info{a="x\\\\y\\n\\"z\\"",b="1"} 1\nvllm:num_requests_running 0\n'

    assert read_engine_metrics(page).cache_config == {"a": 'x\\y\n"z"', "b": "1"}


@given(st.text())
def test_nothing_that_a_page_holds_can_raise(text: str) -> None:
    read_engine_metrics(text)
    read_engine_metrics("\n".join(f"{names.running[0]}{text}" for names in ENGINES.values()))
