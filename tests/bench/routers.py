"""Who is measured: the Proxy with each strategy, nginx where there is one, and a bare relay."""

import http.client
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.bench import payloads, processes, readings

_READY_S = 20.0
_NGINX = """
worker_processes 1;
daemon off;
pid {home}/nginx.pid;
error_log {home}/nginx.log error;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  client_max_body_size 64m;
  client_body_buffer_size 1m;
  client_body_temp_path {home}/body; proxy_temp_path {home}/proxy;
  fastcgi_temp_path {home}/fastcgi; uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
  keepalive_requests 100000000;
  upstream backends {{ {servers} keepalive 4096; keepalive_requests 100000000; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://backends; proxy_http_version 1.1;
      proxy_set_header Connection ""; proxy_buffering off;
    }}
  }}
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """One row of the table."""

    name: str
    is_ours: bool
    command: Callable[[int, Sequence[int], Path], list[str]]
    """From its port, the backends' ports and a folder of its own to a command line."""
    stops_with_stdin: bool = False


def _ours(strategy: str) -> Callable[[int, Sequence[int], Path], list[str]]:
    def command(port: int, backends: Sequence[int], home: Path) -> list[str]:
        program = Path(sys.executable).parent / "cacheroute"
        argv = [str(program), "proxy", "start", "--foreground", "--strategy", strategy]
        argv += ["--port", str(port), "--cp-port", "0", "--set", f"state_dir={home}"]
        for backend in backends:
            argv += ["--instance", f"http://127.0.0.1:{backend}"]
        return argv

    return command


def _nginx(port: int, backends: Sequence[int], home: Path) -> list[str]:
    servers = " ".join(f"server 127.0.0.1:{backend};" for backend in backends)
    config = home / "nginx.conf"
    config.write_text(_NGINX.format(home=home, port=port, servers=servers))
    return [str(_nginx_program()), "-p", str(home), "-c", str(config)]


def _relay(port: int, backends: Sequence[int], home: Path) -> list[str]:
    del home
    return [sys.executable, "-m", "tests.bench.relay", str(port), *map(str, backends)]


def _nginx_program() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


ROUND_ROBIN = Router(name="round_robin", is_ours=True, command=_ours("round_robin"))
LEAST_LOAD = Router(name="least_load", is_ours=True, command=_ours("least_load"))
NGINX = Router(name="nginx", is_ours=False, command=_nginx)
RELAY = Router(name="relay", is_ours=False, command=_relay, stops_with_stdin=True)


def here() -> list[Router]:
    """Return those that can run on this machine."""
    return [ROUND_ROBIN, LEAST_LOAD, *([NGINX] if _nginx_program() else []), RELAY]


@dataclass(slots=True)
class Running:
    """A router that answers."""

    router: Router
    port: int
    pid: int
    start_s: float
    """From the start of its process to its first 200."""

    @property
    def pids(self) -> list[int]:
        """Its processes."""
        return readings.family(self.pid)


@contextmanager
def running(
    router: Router, backends: Sequence[int], cpu: int | None, home: Path, log: IO[bytes]
) -> Iterator[Running]:
    """Run a router before these backends for as long as the block lasts."""
    own = home / router.name
    own.mkdir()
    (port,) = processes.free_ports(1)
    argv = router.command(port, backends, own)
    began_s = time.monotonic()
    process = processes.start(
        argv, cpu=cpu, log=log, talks=router.stops_with_stdin, env={"XDG_STATE_HOME": str(own)}
    )
    try:
        try:
            _await_first_200(process, port, router.name)
        except processes.LoadFailed as error:
            raise processes.LoadFailed(f"{error}{_last_words(log)}") from None
        yield Running(router, port, process.pid, time.monotonic() - began_s)
    finally:
        processes.end(process)


def _await_first_200(process: processes.Process, port: int, name: str) -> None:
    _, _, body = payloads.requests("2k")[0].partition(b"\r\n\r\n")
    deadline_s = time.monotonic() + _READY_S
    while time.monotonic() < deadline_s:
        if process.poll() is not None:
            raise processes.LoadFailed(f"{name} has ended with {process.returncode}")
        try:
            if _status(port, body) == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.005)
    raise processes.LoadFailed(f"{name} did not answer with 200 within {_READY_S:g} s")


def _last_words(log: IO[bytes]) -> str:
    said = Path(log.name).read_text(errors="replace").strip()
    return f"; it said: {said[-2000:]}" if said else ""


def _status(port: int, body: bytes) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_READY_S)
    try:
        connection.request("POST", payloads.PATH, body, {"Content-Type": "application/json"})
        return connection.getresponse().status
    finally:
        connection.close()
