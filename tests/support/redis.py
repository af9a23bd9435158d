"""A real redis-server for tests: on the loopback, with nothing on disk, ended by its pid.

`redis_server` is one for the whole session; each test that takes it finds it running and empty.
It can be stopped in the middle of a test, and comes back at the same address.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

PROGRAM = "redis-server"
_BEGIN_S = 10.0
_END_S = 10.0
_EVERY_S = 0.01
_ATTEMPTS = 5


class RedisServer:
    """One redis-server and how to reach it."""

    host = "127.0.0.1"

    def __init__(self, program: str, folder: Path, *, password: str | None = None) -> None:
        self.password = password
        self.port = 0
        """The port it listens on, once it has been started."""
        self._program = program
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address as clients take it."""
        secret = f":{self.password}@" if self.password else ""
        return f"redis://{secret}{self.host}:{self.port}/0"

    @property
    def is_running(self) -> bool:
        """Whether its process is there."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it unless it runs: where it was before, or on a free port at first."""
        if self.is_running:
            return
        for _ in range(_ATTEMPTS):
            port = self.port or _free_port()
            if self._begin(port):
                self.port = port
                return
        raise RuntimeError(f"{PROGRAM} did not start: {self._said()}")

    def stop(self) -> None:
        """End it; whoever connects is refused from now on."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Have it down for as long as the block lasts; it comes back empty."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    @contextlib.contextmanager
    def client(self) -> Iterator[redis.Redis]:
        """Give a blocking client."""
        client = redis.Redis(
            host=self.host, port=self.port, password=self.password, protocol=2
        )  # fmt: skip
        try:
            yield client
        finally:
            client.close()

    def flush(self) -> None:
        """Empty all its databases."""
        with self.client() as client:
            client.flushall()

    def stored_keys(self) -> set[bytes]:
        """Return the keys of database 0."""
        with self.client() as client:
            return set(client.scan_iter(count=1000))

    def _begin(self, port: int) -> bool:
        command = [
            self._program, "--port", str(port), "--bind", self.host, "--save", "",
            "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning",
            "--dir", str(self._folder), "--logfile", str(self._log),
            *(("--requirepass", self.password) if self.password else ()),
        ]  # fmt: skip
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._process = process
        deadline_s = time.monotonic() + _BEGIN_S
        while process.poll() is None:
            if self._answers(port):
                return True
            if time.monotonic() > deadline_s:
                self.stop()
                return False
            time.sleep(_EVERY_S)
        return False

    def _answers(self, port: int) -> bool:
        with contextlib.suppress(OSError), socket.create_connection((self.host, port), 1.0) as sock:
            # A server that wants a password says -NOAUTH: it answers as well.
            sock.sendall(b"PING\r\n")
            return sock.recv(64)[:6] in (b"+PONG\r", b"-NOAUT")
        return False

    @property
    def _log(self) -> Path:
        return self._folder / "redis.log"

    def _said(self) -> str:
        return self._log.read_text("utf-8", "replace")[-500:] if self._log.exists() else "nothing"


@contextlib.contextmanager
def running_redis(*, password: str | None = None) -> Iterator[RedisServer]:
    """Run a server of one's own; skips the test where the program is missing."""
    program = shutil.which(PROGRAM, path=os.environ.get("PATH", "") + ":/usr/sbin")
    if program is None:
        pytest.skip(f"{PROGRAM} is not installed")
    with tempfile.TemporaryDirectory(prefix="cacheroute-redis-") as folder:
        server = RedisServer(program, Path(folder), password=password)
        try:
            server.start()
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def redis_process() -> Iterator[RedisServer]:
    """Run the one server of the session."""
    with running_redis() as server:
        yield server


@pytest.fixture
def redis_server(redis_process: RedisServer) -> RedisServer:
    """Give the server, running and empty."""
    redis_process.start()
    redis_process.flush()
    return redis_process


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port
