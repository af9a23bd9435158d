"""KV that one Instance has computed, kept by a knowledge node, brought to another by an order."""

import re
import secrets
from typing import Any

import httpx
import pytest

from tests.support.demo import demo_instance, demo_kdn
from tests.support.redis import RedisServer

KNOWLEDGE = "The pump P-7 is primed before it is started, and never runs dry. " * 160
"""2,600 tokens: ten whole blocks of 256."""
PROFILE = ("--profile", "llama70b", "--block-size", "256")
TTFT = "time_to_first_token_seconds_sum"


def asked(instance: str, system: str, question: str) -> dict[str, Any]:
    """Ask about some knowledge as a Proxy does, and return the answer's usage."""
    messages = [
        {"role": "system", "content": system},
        {"role": "user", "content": question},
    ]
    body = {"model": "demo", "messages": messages, "max_tokens": 1}
    told = posted(f"{instance}/v1/chat/completions", body)
    usage: dict[str, Any] = told["usage"]
    return usage


def posted(url: str, body: object) -> dict[str, Any]:
    answer = httpx.post(url, json=body, timeout=60, trust_env=False)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def model_ttft_s(instance: str, *, speed: float) -> float:
    """Return the model seconds until the first tokens of all requests so far."""
    page = httpx.get(f"{instance}/metrics", trust_env=False).text
    found = re.search(rf"^vllm:{TTFT}{{.*}} (\S+)$", page, re.MULTILINE)
    assert found is not None
    return float(found[1]) * speed


def cached_tokens(usage: dict[str, Any]) -> int:
    cached: int = usage["prompt_tokens_details"]["cached_tokens"]
    return cached


def test_injected_kv_spares_an_instance_the_reading_of_knowledge(
    redis_server: RedisServer,
) -> None:
    speed = 100.0
    store = ("--kv-redis", f"redis://127.0.0.1:{redis_server.port}/0")
    with demo_kdn() as kdn, demo_instance(*PROFILE, *store, "--kv-save", speed=speed) as builder:
        kid = posted(f"{kdn}/knowledge/register_text", {"content": KNOWLEDGE})["kid"]
        built = posted(
            f"{kdn}/knowledge/build_kv",
            {
                "kid": kid, "api_url": builder, "model": "demo", "max_tokens": 1,
                "redis_host": "127.0.0.1", "redis_port": redis_server.port, "redis_db": 0,
            },
        )  # fmt: skip
        assert built["dumped_keys"] == 10
        redis_server.flush()

        node = kdn.removeprefix("http://")
        with demo_instance(*PROFILE, *store, "--kdn-targets", node, speed=speed) as reader:
            text = KNOWLEDGE.strip()
            other = "Nothing of this was ever read by anyone before, as it is. " * 179
            cold = asked(reader, other, "What is it about?")
            cold_s = model_ttft_s(reader, speed=speed)
            ack = posted(
                f"{reader}/v1/kv/inject_ready",
                {"request_id": 1, "kdn_addr": node, "model": "demo", "knowledge_ids": [kid]},
            )
            warm = asked(reader, text, "May it run dry?")
            warm_s = model_ttft_s(reader, speed=speed) - cold_s
            again = asked(reader, text, "How is it started?")

    assert ack["injected_kids"] == [kid]
    assert ack["keys_injected"] == 10
    assert ack["payload_bytes"] == 10 * 256 * 96_000
    assert (cached_tokens(cold), cached_tokens(warm), cached_tokens(again)) == (0, 2560, 2560)
    assert warm["prompt_tokens"] == pytest.approx(cold["prompt_tokens"], abs=20)
    # 3.8 s to compute them, 0.28 s to load them and 0.1 s for the rest.
    assert warm_s < cold_s / 4


def test_an_instance_of_another_knowledge_node_takes_nothing_from_this_one(
    redis_server: RedisServer,
) -> None:
    store = ("--kv-redis", f"redis://127.0.0.1:{redis_server.port}/0")
    with demo_kdn() as kdn, demo_instance(*PROFILE, *store, "--kdn-targets", "127.0.0.1:1") as url:
        order = {
            "request_id": 1, "kdn_addr": kdn, "model": "demo",
            "knowledge_ids": [secrets.token_hex(32)],
        }  # fmt: skip
        answer = httpx.post(f"{url}/v1/kv/inject_ready", json=order, trust_env=False)
    assert (answer.status_code, answer.json()["error"]) == (403, "unknown_kdn")
