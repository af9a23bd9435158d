"""Ready is what answers, and what the pool has."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest

from cacheroute_cli.supervisor.probes import Probes, why_no_answer, why_no_connection
from cacheroute_cli.supervisor.process import Readiness

POOL = b"""[{"instance_id": "here", "host": "127.0.0.1", "port": 1, "is_alive": true,
 "last_seen_at": 1, "registered_at": 1, "load": {}, "resource": {}}]"""


class Handler(BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []
    shown: ClassVar[set[str | None]] = set()

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.shown.add(self.headers["authorization"])
        status = 503 if self.path == "/busy" else 200
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(POOL)))
        self.end_headers()
        self.wfile.write(POOL)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Handler.asked.clear()
    Handler.shown.clear()
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def a_closed_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port: int = server.getsockname()[1]
        return port


def test_an_answer_below_400_is_good_and_anything_else_says_why(url: str) -> None:
    closed = a_closed_port()

    assert why_no_answer(f"{url}/health?x=1") is None
    assert Handler.asked == ["/health?x=1"]
    assert why_no_answer(f"{url}/busy") == f"{url}/busy answers 503"
    assert why_no_answer(f"http://127.0.0.1:{closed}/") == (
        f"http://127.0.0.1:{closed}/ does not answer (connection refused)"
    )
    assert "does not answer" in (why_no_answer("http://127.0.0.1:notaport/") or "")


def test_a_server_that_is_none_says_so() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]

        def answer() -> None:
            connection = server.accept()[0]
            connection.recv(100)
            connection.sendall(b"hello there\r\n\r\n")
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        assert "does not answer" in (why_no_answer(f"http://127.0.0.1:{port}/") or "")
        thread.join(timeout=10)


def test_a_connection_is_enough_for_what_speaks_no_http(url: str) -> None:
    assert why_no_connection(url.removeprefix("http://")) is None
    closed = a_closed_port()
    assert why_no_connection(f"127.0.0.1:{closed}") == (
        f"127.0.0.1:{closed} takes no connection (connection refused)"
    )


async def test_all_that_is_named_must_hold(url: str) -> None:
    probes = Probes()
    here = Readiness(http=f"{url}/", tcp=url.removeprefix("http://"), member="here", pool=url)
    away = Readiness(http=f"{url}/", member="away", pool=url)

    assert await probes.why_not(Readiness()) is None
    assert await probes.why_not(here) is None
    assert await probes.why_not(away) == f"away is not in the pool of {url}"
    assert await probes.why_not(Readiness(http=f"{url}/busy")) == f"{url}/busy answers 503"
    # Asked once for both, as they asked at the same moment.
    assert sum(path.startswith("/v1/instance/list") for path in Handler.asked) == 1
    probes.close()


async def test_each_pool_is_shown_the_token_that_goes_with_it(url: str) -> None:
    probes = Probes()
    for token in ("one", "two", None):
        assert await probes.why_not(Readiness(member="here", pool=url, token=token)) is None
    probes.close()

    assert Handler.shown == {"Bearer one", "Bearer two", None}


async def test_a_pool_that_does_not_answer_is_what_stands_in_the_way() -> None:
    url = f"http://127.0.0.1:{a_closed_port()}"

    probes = Probes()
    why = await probes.why_not(Readiness(member="a", pool=url))
    probes.close()

    assert why is not None
    assert "cannot reach" in why


def test_an_address_that_is_none_does_not_answer_either() -> None:
    assert why_no_answer("http://[::1") == "http://[::1 does not answer (invalid ipv6 url)"
