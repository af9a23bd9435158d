"""What attaching is told on its command line; a wrong value is one sentence and exit 2."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cacheroute.formats.address import (
    Address,
    Origin,
    forbidden_reason,
    is_loopback,
    parse_base_url,
)
from cacheroute.member.arguments import OneLineParser, addresses, name, number, words

PROGRAM = "cacheroute instance attach"
"""What it is started by, as a rule."""
DEFAULT_PROXY_URL = "http://127.0.0.1:8002"
AGENT_LISTEN = "127.0.0.1:9201"
_A_DAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachOptions:
    """One attachment's settings, checked."""

    origin: Origin
    """Where the server is, as the Proxy will reach it too."""
    model: str | None = None
    """Model it must serve, and is registered for first; None takes what it lists."""
    instance_id: str | None = None
    """None takes `hp_<host>:<port>`."""
    proxy_cp_url: str = DEFAULT_PROXY_URL
    """Control plane to register at."""
    proxy_cp_token: str | None = None
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    api_key_env: str | None = None
    """Variable that `api_key` comes from."""
    api_key: str | None = None
    """What the server wants as bearer token before it tells what it serves."""
    agent_url: str | None = None
    """Resource agent of the server's host; None for one of our own, or none."""
    starts_agent: bool = False
    """Whether to start an agent where none answers: only on this host, if none was named."""
    kdn_targets: tuple[Address, ...] = ()
    """Knowledge nodes that are measured from here."""
    link_bandwidth_mbps: float = 1000.0
    """Bandwidth of a way to them whose own nobody tells."""
    interval_s: float = 2.0
    """Time between two looks at the server."""
    wait_s: float = 0.0
    """How long server and Proxy may take to answer for the first time."""


def parse_options(argv: Sequence[str], environ: Mapping[str, str]) -> AttachOptions:
    """Read the command line over the environment over the defaults."""
    parser = _build_parser()
    parser.set_defaults(proxy_cp_url=environ.get("PROXY_CP_URL") or DEFAULT_PROXY_URL)
    given = parser.parse_args(argv)
    api_key = None
    if given.api_key_env is not None:
        api_key = parser.secret(given.api_key_env, environ)
        if api_key is None:
            parser.error(f"argument --api-key-env: {given.api_key_env} is not set, or empty")
    if given.no_agent and given.agent_url:
        parser.error("argument --no-agent: not allowed with argument --agent-url")
    # Only on its own host does an agent of ours see what the server has left.
    is_here = given.on_this_host or is_loopback(given.endpoint.host)
    starts_agent = is_here and not given.no_agent and not given.agent_url
    return AttachOptions(
        origin=given.endpoint,
        model=given.model,
        instance_id=given.instance_id,
        proxy_cp_url=given.proxy_cp_url,
        proxy_cp_token=parser.secret("PROXY_CP_TOKEN", environ),
        tags=given.tags,
        weight=given.weight,
        api_key_env=given.api_key_env,
        api_key=api_key,
        agent_url=f"http://{AGENT_LISTEN}" if starts_agent else given.agent_url,
        starts_agent=starts_agent,
        kdn_targets=given.kdn_targets,
        link_bandwidth_mbps=given.link_bandwidth_mbps,
        interval_s=given.interval,
        wait_s=given.wait,
    )


def _build_parser() -> OneLineParser:
    parser = OneLineParser(
        program=PROGRAM,
        description="Put a running model server into a Proxy's pool, and keep it there.",
    )
    add = parser.option
    add(
        "--endpoint",
        type=_endpoint,
        required=True,
        metavar="URL",
        help="the server, as the Proxy reaches it: http://HOST:PORT[/BASE]",
    )
    add("--model", type=name, help="model that it must serve (default: what it lists)")
    add("--instance-id", type=name, help="id in the pool (default: hp_HOST:PORT)")
    add("--proxy-cp-url", help="control plane to register at", default=DEFAULT_PROXY_URL)
    add("--tags", type=words, default=(), help="tags to register with, separated by commas")
    add("--weight", type=number(0, 1e6), default=1.0, help="weight to register with")
    add("--api-key-env", metavar="NAME", help="variable that holds the key the server wants")
    add("--agent-url", metavar="URL", help="resource agent of the server's host")
    add("--no-agent", action="store_true", default=False, help="report no resource snapshots")
    add(
        "--on-this-host",
        action="store_true",
        default=False,
        help="the server runs on this host, whatever its address says",
    )
    add("--kdn-targets", type=addresses, default=(), help="knowledge nodes, as HOST:PORT[,..]")
    add(
        "--link-bandwidth-mbps",
        type=number(0.001, 1e7),
        default=1000.0,
        help="bandwidth of a way to such a node where nobody tells it",
    )
    add("--interval", type=number(0.05, 3600), default=2.0, help="seconds between two looks")
    add(
        "--wait",
        type=number(0, _A_DAY_S),
        default=0.0,
        help="seconds that server and Proxy may take to answer for the first time",
    )
    return parser


def _endpoint(text: str) -> Origin:
    try:
        origin = parse_base_url(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    reason = forbidden_reason(origin.host)
    if reason:
        raise argparse.ArgumentTypeError(f"{reason}: write the address it is reached at")
    return origin
