"""What the programs of the knowledge demo are started with: Redis, node, Scheduler, Instances."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cacheroute_cli.diagnostics import Fault
from cacheroute_cli.launch import Launch, launch_instance
from cacheroute_cli.supervisor.runner import python

REDIS = "redis-server"
PROFILE = "llama70b"
BLOCK_TOKENS = 256
BUILDER_SPEED = 100.0
"""Whoever builds KV is not measured."""
BUILT_S = 0.02
"""Its answer comes when its KV is written, so nobody has to wait for more."""
FIRST_PROBE_ONLY_S = 3600
"""The link is measured when an Instance comes, and not while it is used."""

_LISTENING = re.compile(r"^listening on (?P<url>\S+)\s*$", re.M)
_SCHEDULER_SAYS = re.compile(
    r"^listening on (?P<service>\S+)\s+control on (?P<control>\S+)\s*$", re.M
)
_REDIS_SAYS = re.compile(r"Ready to accept connections")


class NoRedis(Fault):
    """The one program that is not ours, and that is missing."""

    code = "demo.no_redis"

    def __init__(self) -> None:
        super().__init__(
            f"the knowledge demo keeps KV in a real Redis, and there is no {REDIS} on the PATH",
            hint=f"apt-get install {REDIS}",
        )


def find_redis() -> str:
    """Return the path of the Redis server; raises NoRedis."""
    program = shutil.which(REDIS)
    if program is None:
        raise NoRedis
    return program


def launch_redis(program: str, *, port: int, folder: Path) -> Launch:
    """Return how to run a Redis that listens on the loopback and keeps nothing."""
    options = {
        "--port": port, "--bind": "127.0.0.1", "--save": "", "--appendonly": "no",
        "--daemonize": "no", "--loglevel": "notice", "--dir": folder,
    }  # fmt: skip
    return _launch("redis", (program, *_arguments(options)), _REDIS_SAYS)


def launch_node(*, database: Path, bandwidth_mbps: float, delay_ms: float) -> Launch:
    """Return how to run a knowledge node with a simulated link."""
    options = {
        "--port": 0, "--kdn-id": "demo", "--db": database,
        "--bandwidth-mbps": bandwidth_mbps, "--delay-ms": delay_ms, "--settle-s": BUILT_S,
    }  # fmt: skip
    argv = python("-P", "-m", "cacheroute.demo.kdn", *_arguments(options))
    return _launch("kdn", argv, _LISTENING)


def launch_scheduler(*, node: str) -> Launch:
    """Return how to run a Scheduler over one knowledge node, `host:port`."""
    options = {"--port": 0, "--cp-port": 0, "--kdn": node}
    argv = python("-P", "-m", "cacheroute.demo.scheduler", *_arguments(options))
    return _launch("scheduler", argv, _SCHEDULER_SAYS)


def launch_builder(*, model: str, redis_url: str) -> Launch:
    """Return how to run the Instance that computes KV for the knowledge node to keep."""
    launch = launch_instance(port=0, model=model, speed=BUILDER_SPEED)
    return _more(launch, "--kv-redis", redis_url, "--kv-save")


def launch_reader(
    *, instance_id: str, proxy_url: str, model: str, speed: float, redis_url: str, node: str
) -> Launch:
    """Return how to run an Instance that KV can be brought to."""
    launch = launch_instance(
        port=0, instance_id=instance_id, proxy_url=proxy_url, model=model, speed=speed
    )
    return _more(
        launch,
        "--kv-redis", redis_url, "--kdn-targets", node,
        "--topology-interval-s", f"{FIRST_PROBE_ONLY_S}",
    )  # fmt: skip


def _more(launch: Launch, *arguments: str) -> Launch:
    common = ("--profile", PROFILE, "--block-size", f"{BLOCK_TOKENS}", "--no-agent")
    return replace(launch, argv=(*launch.argv, *common, *arguments))


def _arguments(options: dict[str, object]) -> list[str]:
    return [str(part) for pair in options.items() for part in pair]


def _launch(name: str, argv: Sequence[str], says_ready: re.Pattern[str]) -> Launch:
    return Launch(kind=name, name=name, argv=tuple(argv), wanted=(), says_ready=says_ready)
