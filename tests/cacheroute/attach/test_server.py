"""A server that says what vLLM said, described and looked at."""

import contextlib
import json
from collections.abc import AsyncIterator

import pytest

from cacheroute.attach import faults
from cacheroute.attach.server import Description, Server
from cacheroute.member.peer import Peer
from tests.cacheroute.attach import captured
from tests.cacheroute.attach.engine import Engine, engine


@contextlib.asynccontextmanager
async def asked(playing: Engine, key: str | None = None) -> AsyncIterator[Server]:
    async with Peer(playing.url) as peer, Peer(playing.url, token=key or "-") as keyed:
        yield Server(peer, keyed if key else None)


def listing(*names: str, owner: str = "vllm") -> bytes:
    return json.dumps({"data": [{"id": name, "owned_by": owner} for name in names]}).encode()


async def described(playing: Engine, model: str | None = None) -> Description:
    async with asked(playing) as server:
        return await server.describe(model)


async def test_a_vllm_is_described_as_far_as_it_tells() -> None:
    async with engine() as playing:
        playing.answers["/metrics"] = (200, captured.metrics(running=2))
        found = await described(playing)
    assert (found.model, found.kind, found.version) == ("tiny", "vllm", "0.32.0")
    assert found.endpoints == ("chat/completions", "completions", "tokenize")
    assert [card.max_model_len for card in found.cards] == [8192]
    assert (found.stats.running, found.wants_key) == (2, False)


async def test_adapters_are_no_models_of_their_own() -> None:
    cards = [{"id": "lora", "parent": "base"}, {"id": "base", "parent": None}, {"id": 3}, "x"]
    async with engine() as playing:
        playing.answers["/v1/models"] = (200, json.dumps({"data": cards}).encode())
        found = await described(playing)
    assert found.model == "base"
    assert [(card.name, card.parent) for card in found.cards] == [("lora", "base"), ("base", None)]


async def test_a_server_without_metrics_is_known_by_its_owner_or_not_at_all() -> None:
    async with engine() as playing:
        playing.answers["/metrics"] = (404, b"")
        playing.answers["/v1/models"] = (200, listing("m", owner="llamacpp"))
        playing.answers["/props"] = (200, b'{"build_info":"b11434"}')
        found = await described(playing)
        playing.answers["/v1/models"] = (200, listing("m", owner="somebody"))
        playing.answers["/version"] = (200, b'"\\u0007"')
        other = await described(playing)
    assert (found.kind, found.version) == ("llama.cpp", "b11434")
    assert (other.kind, other.version) == (None, None)


async def test_a_server_without_a_list_of_models_is_believed_what_its_operator_says() -> None:
    async with engine() as playing:
        playing.answers["/v1/models"] = (404, b"")
        found = await described(playing, "mine")
        with pytest.raises(faults.ModelNotServed, match="has no /v1/models") as untold:
            await described(playing)
    assert [card.name for card in found.cards] == [found.model] == ["mine"]
    assert untold.value.hint == "name its model with --model"


async def test_another_model_is_refused_with_those_there_are() -> None:
    async with engine() as playing:
        playing.answers["/v1/models"] = (200, listing(*"abcdefghij"))
        assert (await described(playing, "j")).model == "j"
        with pytest.raises(faults.ModelNotServed) as fault:
            await described(playing, "z")
    shown = "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and 2 more"
    assert str(fault.value) == f"{playing.url} does not serve 'z'; it serves {shown}"


@pytest.mark.parametrize(
    ("path", "answer", "kind", "why"),
    [
        ("/health", (503, b""), faults.NotAnswering, "/health with 503: it is still loading"),
        ("/v1/models", (500, b""), faults.NotAnswering, "/v1/models with 500"),
        ("/v1/models", (200, b'{"data":[]}'), faults.NotAnswering, "lists no model"),
        ("/v1/models", (200, b"<html>"), faults.NotUnderstood, "no list of models"),
        ("/v1/models", (302, b""), faults.NotUnderstood, "302 and no list of models"),
    ],
)
async def test_what_is_wrong_is_one_sentence(
    path: str, answer: tuple[int, bytes], kind: type[faults.AttachFault], why: str
) -> None:
    async with engine() as playing:
        playing.answers[path] = answer
        with pytest.raises(kind, match=why):
            await described(playing)


async def test_a_server_of_another_kind_is_not_attached() -> None:
    async with engine() as playing:
        playing.answers = {"/v1/models": (200, captured.MODELS)}
        with pytest.raises(faults.NotUnderstood, match="has none of /v1/chat/completions"):
            await described(playing)


async def test_nobody_there_is_not_answering() -> None:
    async with engine() as playing:
        await playing.close()
        with pytest.raises(faults.NotAnswering, match="cannot reach") as fault:
            await described(playing)
    assert fault.value.hint == "is the server running, and is this its address?"


async def test_a_key_that_is_missing_points_to_where_the_proxy_takes_one() -> None:
    async with engine() as playing:
        playing.key = b"k"
        with pytest.raises(faults.KeyWanted, match="has none at the Proxy") as fault:
            await described(playing)
    assert f"--instance {playing.url},api_key=env:NAME" in (fault.value.hint or "")


async def test_a_key_is_sent_only_to_a_server_that_wants_one() -> None:
    async with engine() as playing, asked(playing, "k") as server:
        assert not (await server.describe(None)).wants_key
        assert {key for _, _, key in playing.asked} == {None}
        playing.key = b"k"
        assert (await server.describe(None)).wants_key
        playing.key = b"other"
        with pytest.raises(faults.KeyWanted, match="refused the key with 401"):
            await server.describe(None)


async def test_a_look_tells_the_load() -> None:
    async with engine() as playing, asked(playing) as server:
        playing.answers["/metrics"] = (200, captured.metrics(waiting=4))
        pulse = await server.pulse()
        playing.answers["/metrics"] = (500, b"")
        without = await server.pulse()
    assert pulse.problem is None
    assert pulse.stats is not None
    assert pulse.stats.waiting == 4
    assert (without.problem, without.stats) == (None, None)


async def test_a_look_at_a_server_without_a_health_page_asks_for_its_models() -> None:
    async with engine() as playing, asked(playing) as server:
        playing.answers["/health"] = (404, b"")
        assert (await server.pulse()).problem is None
        playing.answers["/v1/models"] = (503, b"")
        assert (await server.pulse()).problem == f"{playing.url} answered with 503"
        await playing.close()
        assert "cannot reach" in str((await server.pulse()).problem)
