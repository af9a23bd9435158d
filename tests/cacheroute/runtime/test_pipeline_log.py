"""One line for each request, and not a word of what was said."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.backend import refusing, scripted
from tests.support.client import connected, post
from tests.support.openai_shapes import CHAT, DONE, USAGE, chat, completion, sse, token
from tests.support.proxy import RunningProxy, running_proxy
from tests.support.script import Freeze, Reset, chunk, json_answer, stream, stream_head

SECRET = "the patient is called"


def logged(proxy: RunningProxy) -> list[dict[str, Any]]:
    """Return every line so far."""
    log = proxy.app._request_log
    log.flush()
    assert log.path is not None
    if not log.path.exists():
        return []
    return [json.loads(line) for line in log.path.read_text().splitlines()]


async def test_a_request_is_one_line_without_its_text() -> None:
    async with (
        scripted(json_answer(completion(SECRET + " Ann"))) as backend,
        running_proxy(backend.url) as proxy,
    ):
        sent = chat(SECRET + " Bob")
        await post(proxy.service_port, sent, headers=[("X-Request-Id", "abc-1")])
        (line,) = logged(proxy)
        assert SECRET not in json.dumps(line)
        assert line["request_id"] == "abc-1"
        assert (line["endpoint"], line["model"], line["caller"]) == (
            "chat/completions", "m", "native",
        )  # fmt: skip
        assert (line["instance"], line["attempts"]) == (backend.instance_id, 1)
        assert (line["status"], line["outcome"], line["error"]) == (200, "ok", None)
        assert (line["prompt_tokens"], line["completion_tokens"]) == (7, 3)
        assert line["cached_tokens"] is None
        assert line["bytes_in"] == len(sent)
        assert line["ttft_ms"] is None
        assert line["e2e_ms"] > 0


async def test_a_stream_has_the_time_of_its_first_token() -> None:
    said = [token(SECRET), sse({"choices": [], "usage": USAGE}), DONE]
    async with scripted(stream(*said)) as backend, running_proxy(backend.url) as proxy:
        await post(proxy.service_port, chat(SECRET, stream=True))
        (line,) = logged(proxy)
        assert SECRET not in json.dumps(line)
        assert line["stream"] is True
        assert 0 < line["ttft_ms"] <= line["e2e_ms"]
        assert line["completion_tokens"] == 3


async def test_a_second_try_is_told_by_its_number_and_who_answered() -> None:
    async with (
        scripted(json_answer({}, 500)) as bad,
        scripted() as good,
        running_proxy(bad.url, good.url) as proxy,
    ):
        await post(proxy.service_port, chat())
        (line,) = logged(proxy)
        assert (line["attempts"], line["instance"], line["outcome"]) == (2, good.instance_id, "ok")


@pytest.mark.parametrize(
    ("reply", "outcome", "status"),
    [
        (json_answer({}, 400), "client_error", 400),
        (json_answer({}, 500), "upstream_status", 500),
        (json_answer({}, 429), "upstream_busy", 429),
        ((Reset(),), "upstream_closed", 502),
        ((stream_head(), chunk(token("a")), Reset()), "upstream_lost", 200),
        (stream(token("a"), sse({"error": {"message": "boom"}}), DONE), "error_event", 200),
    ],
    ids=["client_error", "status", "busy", "closed", "lost", "error event"],
)
async def test_an_unhappy_end_has_its_cause_here_and_on_the_metrics_page(
    reply: Any, outcome: str, status: int
) -> None:
    async with scripted(reply) as backend, running_proxy(backend.url) as proxy:
        await post(proxy.service_port, chat(stream=True))
        (line,) = logged(proxy)
        assert (line["outcome"], line["status"]) == (outcome, status)
        assert await proxy.unhappy_ends() == {outcome: 1.0}
        assert backend.host not in (line["error"] or "") or backend.instance_id in line["error"]


async def test_one_that_reached_nobody_has_a_line_as_well() -> None:
    async with running_proxy() as proxy:
        await post(proxy.service_port, chat())
        (line,) = logged(proxy)
        assert (line["instance"], line["attempts"], line["status"]) == (None, 0, 503)
        assert line["outcome"] == "no_instance"


async def test_a_client_that_left_has_a_line_as_well() -> None:
    async with scripted((Freeze(),)) as backend, running_proxy(backend.url) as proxy:
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat())
            await backend.received()
            client.reset()
            await backend.closed_down_to(0)
        await proxy.idle()
        (line,) = logged(proxy)
        assert (line["outcome"], line["status"]) == ("client_gone", None)


async def test_a_refused_connection_has_a_line_as_well() -> None:
    async with refusing() as dead, running_proxy(dead) as proxy:
        await post(proxy.service_port, chat())
        (line,) = logged(proxy)
        assert line["outcome"] == "upstream_connect_failed"


async def test_a_name_that_cannot_be_written_does_not_end_the_log() -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        for body in (chat(), b'{"model":"\\ud800","messages":[]}', chat()):
            await post(proxy.service_port, body)
        assert [line["outcome"] for line in logged(proxy)].count("ok") >= 2


async def test_the_log_can_be_put_elsewhere_or_off(tmp_path: Path) -> None:
    path = tmp_path / "elsewhere" / "log.jsonl"
    async with (
        scripted() as backend,
        running_proxy(backend.url, proxy__request_log=str(path)) as proxy,
    ):
        await post(proxy.service_port, chat())
        assert len(logged(proxy)) == 1
        assert proxy.app._request_log.path == path
    async with scripted() as backend, running_proxy(backend.url, proxy__request_log="off") as proxy:
        await post(proxy.service_port, chat())
        assert proxy.app._request_log.path is None
