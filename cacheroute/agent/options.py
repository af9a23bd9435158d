"""What the agent is told on its command line; a wrong value is one sentence and exit 2."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cacheroute.member.arguments import OneLineParser

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
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--listen",
        metavar="HOST:PORT",
        type=_listen,
        default=DEFAULT_LISTEN,
        help="address to serve on; port 0 takes a free one",
    )
    parser.add_argument(
        "--sample-interval-ms",
        metavar="MS",
        type=_whole(50, _HOUR_MS),
        default=1000,
        help="time from one sample to the next",
    )
    parser.add_argument(
        "--instance-id",
        metavar="ID",
        type=_instance_id,
        default=environ.get("INSTANCE_ID") or "unknown",
        help="id written into the snapshot (environment: INSTANCE_ID)",
    )
    parser.add_argument(
        "--gpu-util-window-ms",
        metavar="MS",
        type=_whole(1, _HOUR_MS),
        default=5000,
        help="how far back GPU utilisation is averaged",
    )
    parser.add_argument(
        "--gpu-util-max-samples",
        metavar="N",
        type=_whole(1, 10_000),
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


def render_url(host: str, port: int) -> str:
    """Write an address as people open it, an IPv6 one in brackets."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _listen(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if is_bracketed else host
    is_port = port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65535
    if not (colon and host and is_port) or (":" in host) != is_bracketed:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not HOST:PORT with a port from 0 to 65535, "
            f"for example {DEFAULT_LISTEN} or [::1]:9201",
        )
    return host, int(port)


def _whole(lowest: int, highest: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = lowest - 1
        if not lowest <= value <= highest:
            raise argparse.ArgumentTypeError(
                f"must be a whole number from {lowest} to {highest}, not {text!r}",
            )
        return value

    return read


def _instance_id(text: str) -> str:
    if not 0 < len(text) <= 256 or not text.isprintable():
        raise argparse.ArgumentTypeError(
            f"must be 1 to 256 printable characters, not {text[:40]!r} ({len(text)} characters)",
        )
    return text
