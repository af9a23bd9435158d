"""What the agent is told on its command line; a wrong value is one sentence and exit 2."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cacheroute.formats.address import parse_host
from cacheroute.member.arguments import OneLineParser, name, whole

PROGRAM = "cacheroute agent start"
"""What it is started by, as a rule."""
DEFAULT_LISTEN = "127.0.0.1:9201"
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """One agent's settings, checked."""

    host: str = "127.0.0.1"
    """Address to listen on, without brackets."""
    port: int = 9201
    """Port to listen on; 0 takes a free one."""
    instance_id: str = "unknown"
    """Written into every snapshot; the reporter's registered id counts, not this one."""
    sample_interval_ms: int = 1000
    """Time from one sample to the next."""
    gpu_util_window_ms: int = 5000
    """How far back GPU utilisation is averaged."""
    gpu_util_max_samples: int = 20
    """Most samples in that average; the newest are kept."""


def parse_options(argv: Sequence[str], environ: Mapping[str, str]) -> Options:
    """Read the command line; `INSTANCE_ID` is the default of `--instance-id`."""
    parser = OneLineParser(
        program=PROGRAM,
        description="Serve this host's load at /v1/resource/snapshot.",
    )
    add = parser.option
    add(
        "--listen",
        metavar="HOST:PORT",
        type=_listen,
        default=DEFAULT_LISTEN,
        help="address to serve on; port 0 takes a free one",
    )
    add(
        "--sample-interval-ms",
        metavar="MS",
        type=whole(50, _HOUR_MS),
        default=1000,
        help="time from one sample to the next",
    )
    add(
        "--instance-id",
        metavar="ID",
        type=name,
        default=environ.get("INSTANCE_ID") or "unknown",
        help="id written into the snapshot (environment: INSTANCE_ID)",
    )
    add(
        "--gpu-util-window-ms",
        metavar="MS",
        type=whole(1, _HOUR_MS),
        default=5000,
        help="how far back GPU utilisation is averaged",
    )
    add(
        "--gpu-util-max-samples",
        metavar="N",
        type=whole(1, 10_000),
        default=20,
        help="most samples in that average",
    )
    given = parser.parse_args(argv)
    host, port = given.listen
    return Options(
        host=host,
        port=port,
        instance_id=given.instance_id,
        sample_interval_ms=given.sample_interval_ms,
        gpu_util_window_ms=given.gpu_util_window_ms,
        gpu_util_max_samples=given.gpu_util_max_samples,
    )


def _listen(text: str) -> tuple[str, int]:
    where, _, port = text.rpartition(":")
    try:
        if ":" in where and not where.startswith("["):
            raise ValueError("an IPv6 address needs brackets")
        return parse_host(where), whole(0, 65_535)(port)
    except (ValueError, argparse.ArgumentTypeError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not HOST:PORT with a port from 0 to 65535, "
            f"for example {DEFAULT_LISTEN} or [::1]:9201",
        ) from None
