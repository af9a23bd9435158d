"""Who may look, and who may change something."""

import pytest

from cacheroute.planes.access import Access, bearer_token
from cacheroute.planes.asgi import Message, Receive, Scope, Send
from cacheroute.planes.control_owner import ControlRules
from cacheroute.wire import paths
from tests.cacheroute.planes.control_parts import Owner, a_client

TOKEN = "correct horse"
WITH_TOKEN = ControlRules(token=TOKEN)
REGISTRATION = {"host": "127.0.0.1", "port": 9001}
READING = [
    paths.DEBUG_STATUS,
    paths.DEBUG_DECISIONS,
    paths.INSTANCE_LIST,
    paths.TOPOLOGY_KDN_LINKS,
    "/metrics",
    "/nowhere",
]
CHANGING = [
    paths.INSTANCE_REGISTER,
    paths.INSTANCE_HEARTBEAT,
    paths.INSTANCE_UNREGISTER,
    paths.INSTANCE_RESOURCE_SNAPSHOT,
    paths.TOPOLOGY_REPORT,
]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"Bearer abc", b"abc"),
        (b"bearer  abc ", b"abc"),
        (b"Bearer None", None),
        (b"Bearer ", None),
        (b"Bearer", None),
        (b"Basic abc", None),
        (b"", None),
        (None, None),
    ],
)
def test_a_token_is_read_from_its_header(value: bytes | None, expected: bytes | None) -> None:
    assert bearer_token(value) == expected


@pytest.mark.parametrize("path", READING)
async def test_with_a_token_nobody_looks_without_it(path: str) -> None:
    client = a_client(Owner(), WITH_TOKEN)
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {TOKEN}"}):
        response = await client.get(path, headers=headers)
        assert response.status_code == 401
        assert response.headers["www-authenticate"].startswith("Bearer")
        assert response.json()["error"] == "unauthorized"
    allowed = await client.get(path, headers={"authorization": f"Bearer {TOKEN}"})
    assert allowed.status_code != 401


@pytest.mark.parametrize("path", CHANGING)
async def test_a_wrong_token_is_refused_before_any_effect(path: str) -> None:
    owner = Owner()
    client = a_client(owner, WITH_TOKEN)
    response = await client.post(
        path, json={**REGISTRATION, "instance_id": "i-1"}, headers={"authorization": "Bearer no"}
    )
    assert response.status_code == 401
    assert 'error="invalid_token"' in response.headers["www-authenticate"]
    assert len(owner.pool) == 0
    assert owner.pool.unknown.total == 0


async def test_the_right_token_opens_the_plane_to_other_machines() -> None:
    owner = Owner()
    client = a_client(owner, WITH_TOKEN, peer="10.0.0.9")
    response = await client.post(
        paths.INSTANCE_REGISTER, json=REGISTRATION, headers={"authorization": f"bearer {TOKEN}"}
    )
    assert response.status_code == 200
    assert len(owner.pool) == 1


@pytest.mark.parametrize("path", sorted(paths.HEALTH_PATHS))
async def test_health_stays_open(path: str) -> None:
    client = a_client(Owner(), WITH_TOKEN, peer="10.0.0.9")
    for method in ("GET", "HEAD"):
        assert (await client.request(method, path)).status_code in (200, 503)
    assert (await client.post(path)).status_code == 401


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
async def test_without_a_token_this_machine_may_change_something(peer: str) -> None:
    owner = Owner()
    response = await a_client(owner, peer=peer).post(paths.INSTANCE_REGISTER, json=REGISTRATION)
    assert response.status_code == 200
    assert len(owner.pool) == 1


@pytest.mark.parametrize("path", CHANGING)
@pytest.mark.parametrize("peer", ["10.0.0.9", "fe80::1", "::ffff:10.0.0.9", "testclient"])
async def test_without_a_token_other_machines_may_only_look(path: str, peer: str) -> None:
    owner = Owner()
    client = a_client(owner, peer=peer)
    response = await client.post(path, json={**REGISTRATION, "instance_id": "i-1"})
    assert response.status_code == 403
    assert peer in response.json()["detail"]
    assert "token" in response.json()["detail"]
    assert len(owner.pool) == 0
    assert (await client.get(paths.DEBUG_STATUS)).status_code == 200


async def test_a_web_page_on_this_machine_may_not_change_something() -> None:
    owner = Owner()
    response = await a_client(owner).post(
        paths.INSTANCE_REGISTER, json=REGISTRATION, headers={"origin": "http://elsewhere"}
    )
    assert response.status_code == 403
    assert "web page" in response.json()["detail"]
    assert len(owner.pool) == 0


async def test_a_peer_without_an_address_may_not_change_something() -> None:
    sent: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("nothing may get here")

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {"type": "http", "method": "POST", "path": "/x", "headers": [], "client": None}
    await Access(app, token=None)(scope, receive, send)
    assert sent[0]["status"] == 403


async def test_what_is_not_http_passes_by() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def receive() -> Message:
        return {}

    async def send(message: Message) -> None:
        return None

    await Access(app, token=TOKEN)({"type": "lifespan"}, receive, send)
    assert seen == ["lifespan"]


def test_a_blank_token_is_no_token_to_start_with() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        return None

    with pytest.raises(ValueError, match="blank"):
        Access(app, token="  ")
