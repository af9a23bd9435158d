"""What a demo Instance is told: command line first, then the published environment names.

An option that cannot be is one sentence on stderr and exit 2.
"""

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from cacheroute.core.engine.profile import PROFILES, EngineProfile
from cacheroute.demo.faults import Fault, parse_fault
from cacheroute.demo.refusal import Refusal

PROGRAM = "cacheroute.demo.instance"
EXIT_USAGE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceOptions:
    """One demo Instance's settings, checked."""

    host: str = "127.0.0.1"
    port: int = 9001
    """0 takes a free one."""
    cp_host: str | None = None
    """Where the control plane listens as well; None serves it on the same port only."""
    cp_port: int | None = None
    instance_id: str | None = None
    """None takes `hp_<advertised host>:<advertised port>`."""
    advertise_host: str | None = None
    """What the Proxy is told to connect to; None takes `host`, or 127.0.0.1 for a wildcard."""
    advertise_port: int | None = None
    """None takes the port that is listened on."""
    model: str = "demo-8b"
    profile: EngineProfile = PROFILES["h100"]
    speed: float = 1.0
    """Model seconds in one real second."""
    max_model_tokens: int = 131_072
    max_queued: int | None = None
    """More waiting requests than this are answered 503; None has no limit."""
    proxy_cp_url: str | None = None
    """Control plane to register at; None stands alone."""
    proxy_cp_token: str | None = None
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    heartbeat_s: float | None = None
    """None follows the Proxy's reply."""
    agent_url: str | None = None
    """Resource agent to ask; None asks, and if need be starts, one on `agent_port`."""
    agent_port: int = 9201
    starts_agent: bool = True
    """Whether to start an agent where none answers; never one for an `agent_url`."""
    report_resources: bool = True
    """Whether resource snapshots are reported at all."""
    report_interval_s: float = 1.0
    faults: tuple[Fault, ...] = ()
    """Faults that are armed from the start."""
    grace_s: float = 5.0
    """How long running answers may go on after SIGTERM."""


class _OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say what is wrong without a page of usage before it."""
        sys.stderr.write(f"{PROGRAM}: {message} (see --help)\n")
        raise SystemExit(EXIT_USAGE)


def parse_options(argv: Sequence[str], environ: Mapping[str, str]) -> InstanceOptions:
    """Read the command line over the environment over the defaults."""
    parser = _build_parser()
    # Defaults that are strings go through the same type functions as arguments do.
    parser.set_defaults(**_from_environment(environ))
    given = parser.parse_args(argv)
    profile: EngineProfile = PROFILES[given.profile]
    try:
        profile = replace(
            profile,
            block_tokens=given.block_size,
            kv_tokens=given.kv_tokens or profile.kv_tokens,
        )
    except ValueError as error:
        parser.error(str(error))
    return InstanceOptions(
        host=given.host,
        port=given.port,
        cp_host=given.cp_host,
        cp_port=given.cp_port,
        instance_id=given.instance_id or None,
        advertise_host=given.advertise_host or None,
        advertise_port=given.advertise_port,
        model=given.model,
        profile=profile,
        speed=given.speed,
        max_model_tokens=min(given.max_model_len, profile.blocks * profile.block_tokens),
        max_queued=given.max_num_queued_reqs,
        proxy_cp_url=given.proxy_cp_url or None,
        proxy_cp_token=environ.get("PROXY_CP_TOKEN") or None,
        tags=given.tags,
        weight=given.weight,
        heartbeat_s=given.heartbeat_s,
        agent_url=given.agent_url or None,
        agent_port=given.agent_port,
        starts_agent=not given.agent_url
        and _is_on(environ.get("INSTANCE_RESOURCE_AUTO_START_AGENT", "1")),
        report_resources=not given.no_agent,
        report_interval_s=given.report_interval_s,
        faults=tuple(given.fault or ()),
        grace_s=given.grace_s,
    )


_ENVIRONMENT = {
    "PROXY_CP_URL": "proxy_cp_url",
    "INSTANCE_ID": "instance_id",
    "INSTANCE_PORT": "port",
    "INSTANCE_CP_HOST": "cp_host",
    "INSTANCE_CP_PORT": "cp_port",
    "INSTANCE_ADVERTISE_HOST": "advertise_host",
    "INSTANCE_ADVERTISE_PORT": "advertise_port",
    "INSTANCE_MODEL_ID": "model",
    "INSTANCE_KV_BLOCK_SIZE": "block_size",
    "INSTANCE_RESOURCE_AGENT_URL": "agent_url",
    "INSTANCE_RESOURCE_AGENT_PORT": "agent_port",
}


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {
        option: environ[name] for name, option in _ENVIRONMENT.items() if environ.get(name)
    }
    listen = environ.get("INSTANCE_RESOURCE_AGENT_LISTEN")
    if listen and "agent_port" not in values:
        values["agent_port"] = listen.rpartition(":")[2]
    interval_ms = environ.get("INSTANCE_RESOURCE_REPORT_INTERVAL_MS")
    if interval_ms:
        values["report_interval_s"] = f"{interval_ms}e-3"
    for name in ("INSTANCE_RESOURCE_MONITOR_ENABLE", "INSTANCE_RESOURCE_REPORT_ENABLE"):
        if not _is_on(environ.get(name, "1")):
            values["no_agent"] = True
    return values


def _is_on(value: str) -> bool:
    return value.strip().lower() not in {"0", "false", "no", "off"}


def _build_parser() -> argparse.ArgumentParser:
    parser = _OneLineParser(
        prog=PROGRAM,
        description="A model server without a model: vLLM's HTTP API, paced like a real GPU.",
        allow_abbrev=False,
    )

    def add(name: str, *, help: str, default: object = None, **fields: Any) -> None:  # noqa: A002
        # A default that says nothing, such as None, is told in the help text in words.
        shown = help if default in (None, "", (), False) else f"{help} (default: %(default)s)"
        parser.add_argument(name, help=shown, default=default, **fields)

    add("--host", default="127.0.0.1", help="address to listen on")
    add("--port", type=_whole(0, 65535), default=9001, help="port to listen on; 0 takes a free one")
    add("--cp-host", help="address of a control plane port of its own (default: --host)")
    add("--cp-port", type=_whole(1, 65535), help="control plane port (default: the same port)")
    add("--instance-id", help="id to register as (default: hp_HOST:PORT as advertised)")
    add("--advertise-host", help="host that the Proxy is told (default: --host)")
    add(
        "--advertise-port",
        type=_whole(1, 65535),
        help="port that the Proxy is told (default: --port)",
    )
    add("--model", type=_name, default="demo-8b", help="model name to serve")
    add("--profile", choices=sorted(PROFILES), default="h100", help="GPU to pace like")
    add("--speed", type=_number(0.01, 1000), default=1.0, help="times faster than the real GPU")
    add("--block-size", type=_whole(1, 1 << 16), default=16, help="tokens in one KV block")
    add("--kv-tokens", type=_whole(1, 1 << 40), help="KV space in tokens (default: the profile's)")
    add("--max-model-len", type=_whole(1, 1 << 40), default=131_072, help="longest context, tokens")
    add("--max-num-queued-reqs", type=_whole(1, 1 << 30), help="more waiting requests get a 503")
    add("--proxy-cp-url", default="", help="control plane to register at; empty stands alone")
    add("--tags", type=_words, default=(), help="tags to register with, separated by commas")
    add("--weight", type=_number(0, 1e6), default=1.0, help="weight to register with")
    add("--heartbeat-s", type=_number(0.05, 3600), help="heartbeat interval (default: the Proxy's)")
    add("--agent-url", default="", help="resource agent to ask (default: one on --agent-port)")
    add("--agent-port", type=_whole(1, 65535), default=9201, help="port of the resource agent")
    add("--no-agent", action="store_true", default=False, help="report no resource snapshots")
    add("--report-interval-s", type=_number(0.05, 3600), default=1.0, help="time between snapshots")
    add("--fault", action="append", type=_fault, help="arm a fault, as error:status=503,count=3")
    add("--grace-s", type=_number(0, 3600), default=5.0, help="time for running answers at the end")
    return parser


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() else least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f"must be a whole number from {least} to {most}, not {text!r}"
            )
        return value

    return read


def _number(least: float, most: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f"must be a number from {least:g} to {most:g}, not {text!r}"
            )
        return value

    return read


def _name(text: str) -> str:
    if not 0 < len(text) <= 256 or not text.isprintable():
        raise argparse.ArgumentTypeError(f"must be 1 to 256 printable characters, not {text!r}")
    return text


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _fault(text: str) -> Fault:
    try:
        return parse_fault(text)
    except Refusal as refusal:
        raise argparse.ArgumentTypeError(refusal.message) from None
