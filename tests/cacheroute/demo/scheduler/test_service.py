import pytest

from cacheroute.wire import paths
from tests.cacheroute.demo.scheduler.parts import chat, fake_kdn, running_scheduler
from tests.support.backend import scripted
from tests.support.client import fetch, post
from tests.support.openai_shapes import CHAT, COMPLETIONS

TRACE = {
    "scheduler-request-id", "x-cacheroute-trace-version", "x-cacheroute-trace-id",
    "x-cacheroute-runtime-profile", "x-cacheroute-trace-sampled", "x-cacheroute-trace-created-at",
}  # fmt: skip


async def test_a_chat_becomes_a_request_with_the_six_trace_headers() -> None:
    async with scripted() as proxy, running_scheduler() as scheduler:
        await scheduler.register(proxy.port, proxy_id="p-1")
        await post(scheduler.port, chat(("user", "hi")))

        [received] = proxy.requests
        assert (received.method, received.path) == ("POST", CHAT)
        request = received.json()
        assert (request["Request_ID"], request["Prompt"]["user_prompt"]) == (1, "hi")
        assert request["Task"]["P_proxy_port"] == proxy.port
        told = {name: received.head.one(name) for name in TRACE}
        assert told["scheduler-request-id"] == b"1"
        assert None not in told.values()
        assert received.head.one("authorization") is None


async def test_a_clients_key_and_id_go_on_and_its_trace_headers_do_not() -> None:
    async with scripted() as proxy, running_scheduler() as scheduler:
        await scheduler.register(proxy.port)
        sent = [
            ("Authorization", "Bearer k"), ("X-Request-Id", "r-1"), ("Cookie", "c"),
            ("x-cacheroute-trace-sampled", "1"), ("x-cacheroute-trace-more", "1"),
        ]  # fmt: skip
        await post(scheduler.port, chat(), headers=sent)

        head = proxy.requests[0].head
        assert (head.one("authorization"), head.one("x-request-id")) == (b"Bearer k", b"r-1")
        assert head.one("x-cacheroute-trace-sampled") == b"0"
        assert head.one("x-cacheroute-trace-more") is None
        assert head.one("cookie") is None


async def test_a_completion_goes_to_its_own_path() -> None:
    async with scripted() as proxy, running_scheduler() as scheduler:
        await scheduler.register(proxy.port)
        await post(scheduler.port, b'{"model":"m","prompt":"x"}', COMPLETIONS)

        assert proxy.requests[0].path == COMPLETIONS
        assert proxy.requests[0].json()["Service"]["Endpoint_type"] == "completions"


async def test_proxies_are_asked_in_turn_and_requests_are_numbered() -> None:
    async with scripted() as one, scripted() as other, running_scheduler() as scheduler:
        await scheduler.register(other.port, proxy_id="b")
        await scheduler.register(one.port, proxy_id="a")
        for _ in range(4):
            await post(scheduler.port, chat())

        assert [received.json()["Request_ID"] for received in one.requests] == [1, 3]
        assert [received.json()["Request_ID"] for received in other.requests] == [2, 4]


async def test_without_a_proxy_it_says_so_and_when_to_ask_again() -> None:
    async with running_scheduler() as scheduler:
        answer = await post(scheduler.port, chat())

        assert (answer.status, answer.header("retry-after")) == (503, "1")
        assert answer.error["code"] == "no_proxy"
        assert answer.error["message"] == "No Proxy is registered."


async def test_knowledge_that_fits_is_named_with_its_node() -> None:
    kids = {"ab" * 32: "The KV cache keeps keys and values.", "cd" * 32: "Bread is baked at dawn."}
    async with (
        scripted() as proxy,
        fake_kdn(**kids) as kdn,
        running_scheduler(kdns=(kdn.address,)) as scheduler,
    ):
        await scheduler.register(proxy.port)
        await post(
            scheduler.port,
            chat(("user", "When is bread baked?"), RAG=True, Injection_type="text"),
        )

        request = proxy.requests[0].json()
        service = request["Service"]
        assert service["Knowledge_List"] == ["cd" * 32]
        assert (service["Knowledge_length"], service["Injection_type"]) == (6, "text")
        assert service["Enable_know_injection"] is True
        assert request["Task"]["KDN_server_addr"] == kdn.address.authority


async def test_rag_without_a_node_is_refused_and_everything_else_is_not() -> None:
    async with scripted() as proxy, running_scheduler() as scheduler:
        await scheduler.register(proxy.port)
        refused = await post(scheduler.port, chat(RAG=True))
        served = await post(scheduler.port, chat())

        assert (refused.status, refused.error["code"]) == (503, "no_kdn")
        assert served.status == 200
        assert len(proxy.requests) == 1


async def test_a_mistake_reaches_no_proxy() -> None:
    async with scripted() as proxy, running_scheduler() as scheduler:
        await scheduler.register(proxy.port)
        answer = await post(scheduler.port, b"{")
        other = await post(scheduler.port, chat(temperature=9))

        assert (answer.status, answer.error["code"]) == (400, "invalid_json")
        assert other.error["message"] == "temperature must be from 0 to 2; it is 9."
        assert not proxy.requests


async def test_models_are_those_that_are_named() -> None:
    async with running_scheduler(models=("own",)) as scheduler:
        await scheduler.register(8001, proxy_id="a", meta={"models": ["x", "own", 3], "model": "y"})
        await scheduler.register(8002, proxy_id="b", meta={"models": "no list"})
        answer = await fetch(scheduler.port, "GET", paths.MODELS)

        assert [card["id"] for card in answer.json()["data"]] == ["own", "y", "x"]


async def test_it_is_ready_once_somebody_can_be_asked() -> None:
    async with running_scheduler() as scheduler:
        assert (await fetch(scheduler.port, "GET", paths.HEALTHZ)).json() == {"ok": True}
        assert (await fetch(scheduler.port, "GET", paths.READY)).status == 503
        await scheduler.register(8001)
        assert (await fetch(scheduler.port, "GET", paths.READY)).status == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/nothing", 404, "not_found"),
        ("GET", CHAT, 405, "method_not_allowed"),
        ("POST", paths.MODELS, 405, "method_not_allowed"),
    ],
)
async def test_what_is_not_there_is_told_in_openais_words(
    method: str, path: str, status: int, code: str
) -> None:
    async with running_scheduler() as scheduler:
        answer = await fetch(scheduler.port, method, path, body=b"")

        assert (answer.status, answer.error["code"]) == (status, code)
