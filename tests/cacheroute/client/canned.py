"""A peer that answers what it was told to answer, over a real socket."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager


def answer(body: bytes, *, status: str = "200 OK", headers: str = "") -> bytes:
    """Return a whole HTTP answer."""
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{headers}\r\n"
    return head.encode() + body


@contextmanager
def a_peer(reply: Callable[[bytes, socket.socket], None]) -> Iterator[str]:
    """Serve one connection after the other until left; yields the base URL."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        ending = threading.Event()

        def serve() -> None:
            while not ending.is_set():
                connection, _ = server.accept()
                with closing(connection):
                    if not ending.is_set():
                        _answer(connection, reply)

        thread = threading.Thread(target=serve)
        thread.start()
        host, port = server.getsockname()
        try:
            yield f"http://{host}:{port}"
        finally:
            ending.set()
            socket.create_connection((host, port)).close()
            thread.join()


def _answer(connection: socket.socket, reply: Callable[[bytes, socket.socket], None]) -> None:
    request = b""
    while b"\r\n\r\n" not in request:
        data = connection.recv(65536)
        if not data:
            return
        request += data
    head, _, body = request.partition(b"\r\n\r\n")
    length = next(
        (int(line[15:]) for line in head.split(b"\r\n") if line.lower()[:15] == b"content-length:"),
        0,
    )
    while len(body) < length:
        data = connection.recv(65536)
        body += data
    try:
        reply(head + b"\r\n\r\n" + body, connection)
    except (BrokenPipeError, ConnectionResetError):
        return


@contextmanager
def a_peer_saying(raw: bytes) -> Iterator[str]:
    """Serve the same bytes to everyone."""
    with a_peer(lambda _, connection: connection.sendall(raw)) as url:
        yield url


def dripping(
    piece: bytes, *, after: bytes = b"", every_s: float = 0.01
) -> Callable[[bytes, socket.socket], None]:
    """Return a reply that begins and then adds the same piece for as long as its client stays."""

    def drip(_: bytes, connection: socket.socket) -> None:
        connection.settimeout(every_s)
        connection.sendall(after)
        while True:
            connection.sendall(piece)
            try:
                if connection.recv(1) == b"":
                    return
            except TimeoutError:
                continue

    return drip
