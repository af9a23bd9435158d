"""The sections of the knowledge path."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.errors import ConfigError
from cacheroute.core.injection.rules import InjectionRules
from cacheroute.core.predict.coefficients import PUBLISHED
from cacheroute.core.topology import Link, Scalar
from cacheroute.formats.address import Origin
from cacheroute.settings import Settings, load
from cacheroute.settings.knowledge import (
    MAX_COEFFICIENTS_BYTES,
    InjectionSettings,
    KdnSettings,
    PredictSettings,
)

HOME = {"HOME": "/home/a"}


def given(**environ: str) -> Settings:
    return load(environ=HOME | environ).settings


def problems(overrides: list[str] | None = None, **environ: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(None, overrides or [], HOME | environ)
    return caught.value.problems


# The published names


def test_every_published_name_of_the_knowledge_path_counts() -> None:
    settings = given(
        SCHEDULER_CP_URL="http://127.0.0.1:7002/",
        PROXY_HEARTBEAT_S="2",
        PROXY_INSTANCE_COUNT="3",
        PROXY_KV_MEM_PER_INSTANCE_GB="64",
        PROXY_KV_CACHE_UPDATE_POLICY="fifo",
        PREPARE_CONCURRENCY="4",
        READY_CONCURRENCY="8",
        PROXY_READY_RELEASE_POLICY="text_bypass",
        PROXY_TEXT_BYPASS_MAX_PER_FLUSH="2",
        PROXY_INJECTION_STRATEGY="IWS",
        IWS_DECISION_MARGIN_MS="50",
        IWS_KDN_QUEUE_PENALTY_ALPHA="0.25",
        KDN_DEFAULT_BANDWIDTH_MBPS="200",
        PROXY_KDN_LINKS_JSON='{"kdn-1": {"bandwidth_mbps": 10}}',
    )
    scheduler = settings.scheduler
    assert scheduler.url == Origin("127.0.0.1", 7002)
    assert (scheduler.heartbeat_s, scheduler.instance_count) == (2.0, 3)
    assert (scheduler.kv_mem_per_instance_gb, scheduler.kv_cache_update_policy) == (64.0, "fifo")
    assert settings.queues == QueueRules(
        prepare_concurrency=4,
        ready_concurrency=8,
        release_policy="text_bypass",
        text_bypass_max_per_flush=2,
    )
    assert settings.injection == InjectionSettings(
        strategy="iws", margin_ms=50.0, penalty_alpha=0.25, default_bandwidth_mbps=200.0
    )
    assert list(settings.kdn.static_links) == ["kdn-1"]


def test_without_a_word_there_is_no_scheduler_and_nobody_to_ask() -> None:
    settings = given(PROXY_KDN_LINKS_JSON="", SCHEDULER_CP_URL="")
    assert settings.scheduler.url is None
    assert (settings.kdn.allow, settings.kdn.static_links) == ((), {})
    assert isinstance(settings.injection, InjectionRules)
    assert settings.injection.strategy == "default"


# The Scheduler


def test_a_scheduler_is_spoken_to_in_plain_http() -> None:
    (problem,) = problems(SCHEDULER_CP_URL="https://s:7002")
    assert "asks for TLS, but the Scheduler is spoken to in plain HTTP" in problem
    (problem,) = problems(SCHEDULER_CP_URL="7002")
    assert problem.startswith("environment: SCHEDULER_CP_URL: scheduler.url: ")


# Links


def test_links_come_as_json_or_as_keys_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "gw.yaml"
    text = '{"kdn://h:9101": {"bandwidth_mbps": 10, "rtt_ms": 0, "rack": "b"}}'
    for written in (text, f"'{text}'", "\n    kdn://h:9101: " + text.partition(": ")[2][:-1]):
        file.write_text(f"kdn:\n  links: {written}\n")
        (link,) = load(file, [], HOME).settings.kdn.static_links.values()
        metrics: dict[str, Scalar] = {"bandwidth_mbps": 10.0, "rtt_ms": 0.0, "rack": "b"}
        assert link == Link(bandwidth_mbps=10.0, latency_ms=0.0, metrics=metrics)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", 'links: must be a JSON object such as {"a:9101": {"bandwidth_mbps": 1000}}'),
        ("[]", "links: must hold keys and values, not a list"),
        ("7", "links: must hold keys and values, not 7"),
        ('{"k": 7}', "links.k: must hold keys and values, not 7"),
        ('{"k": {}}', "links: 'k' needs bandwidth_mbps or latency_ms"),
        ('{"k": {"bandwidth_mbps": null}}', "links: 'k' needs bandwidth_mbps or latency_ms"),
        ('{"k": {"bandwith_mbps": 9}}', "links: 'k' needs bandwidth_mbps or latency_ms"),
        ('{"k": {"latency_ms": -1}}', "links.k.latency_ms: must be 0 or more, not -1"),
        ('{"k": {"latency_ms": NaN}}', "links.k.latency_ms: must be 0 or more, not nan"),
        ('{"k": {"latency_ms": 1e999}}', "links.k.latency_ms: must be a finite number, not inf"),
        ('{"k": {"latency_ms": true}}', "links.k.latency_ms: a number is needed, not a boolean"),
    ],
)
def test_a_link_that_makes_no_sense_is_refused_with_its_key(text: str, said: str) -> None:
    assert problems(PROXY_KDN_LINKS_JSON=text) == [f"environment: PROXY_KDN_LINKS_JSON: kdn.{said}"]


def test_links_and_their_keys_are_bounded() -> None:
    link = {"bandwidth_mbps": 1}
    KdnSettings.model_validate({"links": {f"k{n}": link for n in range(1_000)}})
    for links in ({f"k{n}": link for n in range(1_001)}, {"k" * 257: link}, {"": link}):
        with pytest.raises(ValidationError):
            KdnSettings.model_validate({"links": links})


# Who may be asked


def test_an_address_is_kept_in_one_form() -> None:
    kdn = KdnSettings(allow=("kdn://Node-A:9101", "http://[0:0::1]:9/", " * "))
    assert kdn.allow == ("node-a:9101", "[::1]:9", "*")


@pytest.mark.parametrize("text", ["node-a", "node-a:0", "node-a:65536", "https://a:1", "a:1/x"])
def test_what_is_no_address_is_refused(text: str) -> None:
    (problem,) = problems([f"kdn.allow={text}"])
    assert problem.startswith(f"--set kdn.allow[0]: must be * or host:port, such as {'10.0.0.7'}")


# The choice between text and KV


@pytest.mark.parametrize("text", ["0", "0.0", " 0 "])
def test_the_published_zero_means_that_nobody_set_a_bandwidth(text: str) -> None:
    assert given(KDN_DEFAULT_BANDWIDTH_MBPS=text).injection.default_bandwidth_mbps == 1000.0


def test_wrong_rules_are_told_by_the_setting_they_are_about() -> None:
    found = problems(
        [
            "injection.margin_ms=-1",
            "injection.strategy=fast",
            "queues.release_policy=fifo",
            "queues.max_queue=0",
        ]
    )
    assert sorted(found) == [
        "--set injection.margin_ms: must be finite and not negative, not -1.0",
        "--set injection.strategy: 'fast' is no injection strategy; there are default, iws",
        "--set queues.max_queue: must be 1 or more, not 0",
        "--set queues.release_policy: must be 'ordered' or 'text_bypass', not 'fifo'",
    ]


# Forecasts


def test_without_a_file_the_published_fit_is_taken() -> None:
    assert PredictSettings().load() is PUBLISHED


def test_a_file_that_was_written_from_coefficients_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(json.dumps(PUBLISHED.as_mapping()))
    assert PredictSettings(coefficients=file).load() == PUBLISHED


def test_coefficients_that_predict_nothing_stop_the_start(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text('{"a": 0, "b": 0, "c": 0, "d": 0}')
    found = problems([f"predict.coefficients={file}"])
    assert len(found) > 1
    assert all(problem.startswith("--set predict.coefficients: ") for problem in found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[" * 5_000, "is not JSON"),
        ("[]", "must hold a JSON object"),
        (" " * (MAX_COEFFICIENTS_BYTES + 1), "is larger than"),
    ],
)
def test_a_file_that_holds_no_coefficients_is_told_so(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "c.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=said):
        PredictSettings(coefficients=file).load()
