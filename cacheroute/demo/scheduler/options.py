"""What a demo Scheduler is told: command line first, then the environment, then defaults.

An option that cannot be is one sentence on stderr and exit 2.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cacheroute.formats.address import Address, parse_host_port
from cacheroute.member.arguments import OneLineParser, host, name, number, whole

PROGRAM = "python -m cacheroute.demo.scheduler"

RUNTIME_PROFILES = ("legacy", "v1", "test/mock")


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerOptions:
    """One demo Scheduler's settings, checked."""

    host: str = "127.0.0.1"
    port: int = 7001
    """Where clients ask; 0 takes a free one."""
    cp_host: str | None = None
    """Where Proxies register; None takes `host`."""
    cp_port: int = 7002
    """0 takes a free one."""
    kdns: tuple[Address, ...] = ()
    """Knowledge nodes; where two hold the same text, the first one is named."""
    top_k: int = 1
    """Most texts that are put before one prompt."""
    refresh_s: float = 30.0
    """How often the texts of the knowledge nodes are read again."""
    models: tuple[str, ...] = ()
    """Models to list besides those that Proxies name in their meta."""
    ttl_s: float = 30.0
    """Silence after which a Proxy gets no requests any more."""
    heartbeat_s: float = 5.0
    """How often Proxies are told to send heartbeats."""
    runtime_profile: str = "legacy"
    """What the trace headers say of this deployment; a Proxy keeps traces of its own profile."""
    trace_sample_rate: float = 0.0
    """Share of requests whose trace is to be kept, 0 to 1."""
    grace_s: float = 5.0
    """How long running answers may go on after SIGTERM."""


def parse_options(argv: Sequence[str], environ: Mapping[str, str]) -> SchedulerOptions:
    """Read the command line over the environment over the defaults."""
    parser = _build_parser()
    # Defaults that are strings go through the same type functions as arguments do.
    parser.set_defaults(
        **{option: environ[key] for key, option in _ENVIRONMENT.items() if environ.get(key)}
    )
    given = parser.parse_args(argv)
    if given.heartbeat_s > given.ttl_s:
        parser.error(
            f"--heartbeat-s {given.heartbeat_s:g} is longer than --ttl-s {given.ttl_s:g}: "
            "every Proxy would be taken for dead between two heartbeats"
        )
    return SchedulerOptions(
        host=given.host,
        port=given.port,
        cp_host=given.cp_host,
        cp_port=given.cp_port,
        kdns=tuple(dict.fromkeys(given.kdn or ())),
        top_k=given.top_k,
        refresh_s=given.refresh_s,
        models=tuple(dict.fromkeys(given.model or ())),
        ttl_s=given.ttl_s,
        heartbeat_s=given.heartbeat_s,
        runtime_profile=given.runtime_profile,
        trace_sample_rate=given.trace_sample_rate,
        grace_s=given.grace_s,
    )


_ENVIRONMENT = {
    "CACHEROUTE_RUNTIME_PROFILE": "runtime_profile",
    "CACHEROUTE_TRACE_SAMPLE_RATE": "trace_sample_rate",
}


def _build_parser() -> OneLineParser:
    parser = OneLineParser(
        program=PROGRAM, description="A small Scheduler: OpenAI requests in, Proxies in turn."
    )
    add = parser.option
    add("--host", type=host, default="127.0.0.1", help="address to listen on")
    add("--port", type=whole(0, 65535), default=7001, help="port for clients; 0 takes a free one")
    add("--cp-host", type=host, help="address of the control plane (default: --host)")
    add("--cp-port", type=whole(0, 65535), default=7002, help="port for Proxies; 0 a free one")
    add("--kdn", action="append", type=_kdn, metavar="HOST:PORT", help="a knowledge node; repeat")
    add("--top-k", type=whole(1, 64), default=1, help="most texts for one prompt")
    add("--refresh-s", type=number(0.2, 86400), default=30.0, help="time between two readings")
    add("--model", action="append", type=name, help="a model to list; may be repeated")
    add("--ttl-s", type=number(0.2, 86400), default=30.0, help="silence that ends a Proxy's turns")
    add("--heartbeat-s", type=number(0.05, 3600), default=5.0, help="heartbeats asked of Proxies")
    add(
        "--runtime-profile",
        choices=RUNTIME_PROFILES,
        default="legacy",
        help="deployment that the trace headers name",
    )
    add("--trace-sample-rate", type=number(0, 1), default=0.0, help="share of traces to keep")
    add("--grace-s", type=number(0, 3600), default=5.0, help="time for running answers at the end")
    return parser


def _kdn(text: str) -> Address:
    try:
        return parse_host_port(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
