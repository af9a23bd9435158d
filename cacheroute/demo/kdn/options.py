"""What a demo knowledge node is told: command line first, then the published environment names.

An option that cannot be is one sentence on stderr and exit 2.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cacheroute.demo.kdn.link import LinkRules
from cacheroute.formats.address import Address, is_unspecified, parse_host_port
from cacheroute.member.arguments import OneLineParser, host, name, number, whole

PROGRAM = "python -m cacheroute.demo.kdn"


@dataclass(frozen=True, slots=True, kw_only=True)
class KdnOptions:
    """One demo knowledge node's settings, checked."""

    host: str = "127.0.0.1"
    port: int = 9101
    """0 takes a free one."""
    kdn_id: str | None = None
    """None takes `kdn_<advertised host>:<advertised port>`."""
    advertise_host: str | None = None
    """What Instances are told; None takes `host`, or 127.0.0.1 for a wildcard."""
    advertise_port: int | None = None
    """None takes the port that is listened on."""
    db: str | None = None
    """SQLite file; None takes a temporary one that goes with the process."""
    max_texts: int = 10_000
    max_kv_mb: float = 4096.0
    """Most KV cache that is kept, by its real size, in MiB."""
    link: LinkRules = field(default_factory=LinkRules)
    redis: tuple[Address, ...] = ()
    """Redis servers that may be written to and read; none allows those of this machine."""
    engines: tuple[Address, ...] = ()
    """Engines that may be asked to compute KV; none allows those of this machine."""
    settle_s: float = 0.2
    """How long no more KV of a text may come until what has come is all of it."""
    grace_s: float = 2.0
    """How long running answers may go on after SIGTERM."""

    @property
    def advertised_host(self) -> str:
        """The host under which others find this node."""
        if self.advertise_host is not None:
            return self.advertise_host
        return "127.0.0.1" if is_unspecified(self.host) else self.host


def parse_options(argv: Sequence[str], environ: Mapping[str, str]) -> KdnOptions:
    """Read the command line over the environment over the defaults."""
    parser = _build_parser()
    # Defaults that are strings go through the same type functions as arguments do.
    parser.set_defaults(
        **{option: environ[key] for key, option in _ENVIRONMENT.items() if environ.get(key)}
    )
    given = parser.parse_args(argv)
    if given.bandwidth_mbps is None and given.delay_ms:
        parser.error(f"--delay-ms {given.delay_ms:g} needs --bandwidth-mbps: there is no link")
    return KdnOptions(
        host=given.host,
        port=given.port,
        kdn_id=given.kdn_id,
        advertise_host=given.advertise_host or None,
        advertise_port=given.advertise_port,
        db=given.db or None,
        max_texts=given.max_texts,
        max_kv_mb=given.max_kv_mb,
        link=LinkRules(
            bandwidth_mbps=given.bandwidth_mbps,
            delay_ms=given.delay_ms,
            efficiency=given.link_efficiency,
            speed=given.speed,
        ),
        redis=tuple(dict.fromkeys(given.redis or ())),
        engines=tuple(dict.fromkeys(given.engine or ())),
        settle_s=given.settle_s,
        grace_s=given.grace_s,
    )


_ENVIRONMENT = {
    "KDN_ID": "kdn_id",
    "KDN_ADVERTISE_HOST": "advertise_host",
    "KDN_ADVERTISE_PORT": "advertise_port",
}


def _build_parser() -> OneLineParser:
    parser = OneLineParser(
        program=PROGRAM,
        description="A small knowledge node: texts, their KV cache, and a simulated link.",
    )
    add = parser.option
    add("--host", type=host, default="127.0.0.1", help="address to listen on")
    add("--port", type=whole(0, 65535), default=9101, help="port to listen on; 0 takes a free one")
    add("--kdn-id", type=name, help="id to be known by (default: kdn_HOST:PORT as advertised)")
    add("--advertise-host", type=host, help="host that Instances are told (default: --host)")
    add("--advertise-port", type=whole(1, 65535), help="port that they are told (default: --port)")
    add("--db", metavar="FILE", help="SQLite file (default: a temporary one)")
    add("--max-texts", type=whole(1, 10_000_000), default=10_000, help="most texts to hold")
    add("--max-kv-mb", type=number(0.001, 1e9), default=4096.0, help="most KV cache, real MiB")
    add("--bandwidth-mbps", type=number(0.001, 1e9), help="simulate a link of this bandwidth")
    add("--delay-ms", type=number(0, 60_000), default=0.0, help="delay of the simulated link")
    add(
        "--link-efficiency",
        type=number(0.01, 1),
        default=0.825,
        help="share of the bandwidth that transfers get",
    )
    add("--speed", type=number(0.01, 1000), default=1.0, help="times faster than the real link")
    add(
        "--redis",
        action="append",
        type=_address,
        metavar="HOST:PORT",
        help="a Redis that callers may name; may be repeated (default: any of this machine)",
    )
    add(
        "--engine",
        action="append",
        type=_address,
        metavar="HOST:PORT",
        help="an engine that may build KV; may be repeated (default: any of this machine)",
    )
    add(
        "--settle-s",
        type=number(0.001, 60),
        default=0.2,
        help="time without more KV from an engine after which it has written all",
    )
    add("--grace-s", type=number(0, 3600), default=2.0, help="time for running answers at the end")
    return parser


def _address(text: str) -> Address:
    try:
        return parse_host_port(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
