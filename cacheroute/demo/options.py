"""What a demo Instance is told: command line first, then the published environment names.

An option that cannot be is one sentence on stderr and exit 2.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cacheroute.core.engine.profile import PROFILES, EngineProfile
from cacheroute.demo.faults import Fault, parse_fault
from cacheroute.demo.kv_options import KvOptions, add_kv_options, kv_defaults, kv_options
from cacheroute.demo.refusal import Refusal
from cacheroute.formats.address import Address
from cacheroute.member.arguments import OneLineParser, addresses, host, name, number, whole, words

PROGRAM = "cacheroute instance start"
"""What it is started by, as a rule."""


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
    kv: KvOptions | None = None
    """Where KV is kept outside; None keeps it here only."""
    kdn_targets: tuple[Address, ...] = ()
    """Knowledge nodes that are measured, and that may be told where `kv` is."""
    topology_interval_s: float = 10.0
    """Time between measurements of the ways to them."""
    link_bandwidth_mbps: float = 1000.0
    """Bandwidth of a way whose own nobody tells."""
    grace_s: float = 5.0
    """How long running answers may go on after SIGTERM."""


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
        proxy_cp_token=parser.secret("PROXY_CP_TOKEN", environ),
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
        kv=kv_options(parser, given, environ),
        kdn_targets=given.kdn_targets,
        topology_interval_s=given.topology_interval_s,
        link_bandwidth_mbps=given.link_bandwidth_mbps,
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
    "INSTANCE_TOPOLOGY_KDN_TARGETS": "kdn_targets",
    "INSTANCE_DEFAULT_LINK_BW_MBPS": "link_bandwidth_mbps",
}


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {
        option: environ[each] for each, option in _ENVIRONMENT.items() if environ.get(each)
    }
    values |= kv_defaults(environ)
    listen = environ.get("INSTANCE_RESOURCE_AGENT_LISTEN")
    if listen and "agent_port" not in values:
        values["agent_port"] = listen.rpartition(":")[2]
    interval_ms = environ.get("INSTANCE_RESOURCE_REPORT_INTERVAL_MS")
    if interval_ms:
        values["report_interval_s"] = f"{interval_ms}e-3"
    for each in ("INSTANCE_RESOURCE_MONITOR_ENABLE", "INSTANCE_RESOURCE_REPORT_ENABLE"):
        if not _is_on(environ.get(each, "1")):
            values["no_agent"] = True
    return values


def _is_on(value: str) -> bool:
    return value.strip().lower() not in {"0", "false", "no", "off"}


def _build_parser() -> OneLineParser:
    parser = OneLineParser(
        program=PROGRAM,
        description="A model server without a model: vLLM's HTTP API, paced like a real GPU.",
    )
    add = parser.option
    add("--host", type=host, default="127.0.0.1", help="address to listen on")
    add("--port", type=whole(0, 65535), default=9001, help="port to listen on; 0 takes a free one")
    add("--cp-host", type=host, help="address of a control plane port of its own (default: --host)")
    add("--cp-port", type=whole(1, 65535), help="control plane port (default: the same port)")
    add("--instance-id", help="id to register as (default: hp_HOST:PORT as advertised)")
    add("--advertise-host", type=host, help="host that the Proxy is told (default: --host)")
    add(
        "--advertise-port",
        type=whole(1, 65535),
        help="port that the Proxy is told (default: --port)",
    )
    add("--model", type=name, default="demo-8b", help="model name to serve")
    add("--profile", choices=sorted(PROFILES), default="h100", help="GPU to pace like")
    add("--speed", type=number(0.01, 1000), default=1.0, help="times faster than the real GPU")
    add("--block-size", type=whole(1, 1 << 16), default=16, help="tokens in one KV block")
    add("--kv-tokens", type=whole(1, 1 << 40), help="KV space in tokens (default: the profile's)")
    add("--max-model-len", type=whole(1, 1 << 40), default=131_072, help="longest context, tokens")
    add("--max-num-queued-reqs", type=whole(1, 1 << 30), help="more waiting requests get a 503")
    add("--proxy-cp-url", default="", help="control plane to register at; empty stands alone")
    add("--tags", type=words, default=(), help="tags to register with, separated by commas")
    add("--weight", type=number(0, 1e6), default=1.0, help="weight to register with")
    add("--heartbeat-s", type=number(0.05, 3600), help="heartbeat interval (default: the Proxy's)")
    add("--agent-url", default="", help="resource agent to ask (default: one on --agent-port)")
    add("--agent-port", type=whole(1, 65535), default=9201, help="port of the resource agent")
    add("--no-agent", action="store_true", default=False, help="report no resource snapshots")
    add("--report-interval-s", type=number(0.05, 3600), default=1.0, help="time between snapshots")
    add_kv_options(parser)
    add("--kdn-targets", type=addresses, default=(), help="knowledge nodes, as HOST:PORT[,..]")
    add(
        "--topology-interval-s",
        type=number(0.05, 3600),
        default=10.0,
        help="time between measurements of the ways to them",
    )
    add(
        "--link-bandwidth-mbps",
        type=number(0.001, 1e7),
        default=1000.0,
        help="bandwidth of such a way where nobody tells it",
    )
    add("--fault", action="append", type=_fault, help="arm a fault, as error:status=503,count=3")
    add("--grace-s", type=number(0, 3600), default=5.0, help="time for running answers at the end")
    return parser


def _fault(text: str) -> Fault:
    try:
        return parse_fault(text)
    except Refusal as refusal:
        raise argparse.ArgumentTypeError(refusal.message) from None
