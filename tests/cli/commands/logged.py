"""Records of requests that an Instance of 0.3 ms a token has answered."""

from typing import Any

from cacheroute.runtime.request_log import KnowledgeRecord, RequestRecord
from tests.cacheroute.runtime.test_request_log import a_record


def knowledge(**given: Any) -> KnowledgeRecord:
    whole: dict[str, Any] = {
        "path": "text_inject",
        "predicted_ttft_ms": None,
        "ttft_ms": None,
        "service_ms": 100.0,
        "predicted_service_ms": None,
        "residual_tokens": 400,
        "reused_tokens": 0,
        "alone": True,
        **given,
    }
    return KnowledgeRecord(**whole)


def prefill_ms(tokens: int) -> float:
    return 12 + 0.3 * tokens


def plain(count: int = 20, **given: Any) -> list[RequestRecord]:
    return [
        a_record(
            at=10.0 * n,
            ttft_ms=prefill_ms(50 * n + 40),
            e2e_ms=prefill_ms(50 * n + 40) + 20 * 9.5,
            prompt_tokens=50 * n + 40,
            cached_tokens=0,
            completion_tokens=21,
            **given,
        )
        for n in range(count)
    ]


def scheduled() -> list[RequestRecord]:
    """Requests that went as text and as KV, at an Instance of 0.3 ms a token."""
    texts = [
        a_record(
            at=1e4 + 10 * n,
            knowledge=knowledge(residual_tokens=100 * n + 90, service_ms=prefill_ms(100 * n + 90)),
        )
        for n in range(16)
    ]
    kvs = [
        a_record(
            at=2e4 + 10 * n,
            knowledge=knowledge(
                path="kv_inject",
                residual_tokens=90,
                reused_tokens=256 * n,
                service_ms=prefill_ms(90) + 15 + 0.1 * 256 * n,
            ),
        )
        for n in range(1, 13)
    ]
    return [*texts, *kvs]
