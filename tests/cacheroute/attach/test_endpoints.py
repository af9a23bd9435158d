import json

import pytest

from cacheroute.attach.endpoints import served_endpoints
from cacheroute.member.peer import Peer
from tests.cacheroute.attach.engine import engine


async def test_a_server_that_lists_its_paths_is_asked_no_more() -> None:
    listed: dict[str, object] = {
        "/v1/chat/completions": {},
        "/v1/embeddings": {},
        "/detokenize": {},
        "/load": {},
    }
    async with engine() as server, Peer(server.url) as peer:
        server.answers["/openapi.json"] = (200, json.dumps({"paths": listed}).encode())
        assert await served_endpoints(peer) == ("chat/completions", "embeddings", "detokenize")
        assert server.paths_asked() == ["/openapi.json"]


@pytest.mark.parametrize("page", [b"[]", b"{", b'{"paths":[]}', b'{"paths":{"/other":{}}}'])
async def test_else_each_path_is_tried_with_what_is_no_request(page: bytes) -> None:
    async with engine() as server, Peer(server.url) as peer:
        server.answers["/openapi.json"] = (200, page)
        server.answers["/v1/embeddings"] = (405, b"")
        server.answers["/v1/rerank"] = (501, b"")
        server.answers["/v1/score"] = (500, b"")
        served = await served_endpoints(peer)
    assert served == ("chat/completions", "completions", "score", "tokenize")
