"""The outside store of an Instance's KV, as it is told on the command line or in the environment.

    --kv-redis redis://HOST:PORT/DB    or INSTANCE_REDIS_HOST, _PORT and _DB

The password is told as INSTANCE_REDIS_PASSWORD only: a command line is for all to see.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field

from cacheroute.formats.address import Address, parse_host_port
from cacheroute.member.arguments import OneLineParser, number

PULL_MS_PER_GB = 1097.1
PULL_BASE_MS = 12.46

_DEFAULT_PORT = 6379
_DBS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PullTime:
    """How long KV takes from the store to where the engine can use it: a line over its size.

    The published line is 2764.34 ms a GB and 12.46 ms, at 3.81e-5 GB a token: 105 ms for 1,000
    tokens, and 12. The sizes here are those that cross a link, 9.6e-5 GB a token, so the slope
    is smaller for the time to be the same.
    """

    ms_per_gb: float = PULL_MS_PER_GB
    """For each GB of 10^9 bytes."""
    base_ms: float = PULL_BASE_MS
    """For each request that loads anything."""

    def seconds(self, nominal_bytes: int) -> float:
        """Return the model seconds for KV of this size."""
        return (self.ms_per_gb * nominal_bytes / 1e9 + self.base_ms) / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class KvOptions:
    """Where the store is, and how it is used."""

    address: Address = field(default_factory=lambda: Address("127.0.0.1", _DEFAULT_PORT))
    """Of a Redis; knowledge nodes are told the same one."""
    db: int = 0
    password: str | None = field(default=None, repr=False)
    saves: bool = False
    """Whether blocks that were computed here are written to it as well."""
    pull: PullTime = PullTime()

    def __str__(self) -> str:
        return f"redis://{self.address.authority}/{self.db}"


def add_kv_options(parser: OneLineParser) -> None:
    """Let a parser know the options of the store."""
    parser.option(
        "--kv-redis", type=redis, help="store of KV outside, as redis://HOST:PORT/DB; empty: none"
    )  # fmt: skip
    parser.option(
        "--kv-save", action="store_true", default=False, help="write computed blocks to it as well"
    )
    parser.option(
        "--kv-pull-ms-per-gb", type=number(0, 1e9), default=PULL_MS_PER_GB,
        help="time to load a GB of KV from it, at --speed 1",
    )  # fmt: skip
    parser.option(
        "--kv-pull-ms-base", type=number(0, 1e9), default=PULL_BASE_MS,
        help="time that each load takes whatever its size, at --speed 1",
    )  # fmt: skip


def kv_defaults(environ: Mapping[str, str]) -> dict[str, object]:
    """Return what the environment says, as if it had been an option."""
    host = environ.get("INSTANCE_REDIS_HOST")
    if not host:
        return {}
    port = environ.get("INSTANCE_REDIS_PORT") or _DEFAULT_PORT
    shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return {"kv_redis": f"redis://{shown}:{port}/{environ.get('INSTANCE_REDIS_DB') or 0}"}


def kv_options(
    parser: OneLineParser, given: argparse.Namespace, environ: Mapping[str, str]
) -> KvOptions | None:
    """Return the store that was asked for; None without one."""
    if given.kv_redis is None:
        if given.kv_save:
            parser.error("--kv-save needs to know where: --kv-redis is missing")
        return None
    address, db = given.kv_redis
    return KvOptions(
        address=address,
        db=db,
        password=environ.get("INSTANCE_REDIS_PASSWORD") or None,
        saves=given.kv_save,
        pull=PullTime(ms_per_gb=given.kv_pull_ms_per_gb, base_ms=given.kv_pull_ms_base),
    )


def redis(text: str) -> tuple[Address, int] | None:
    """Read `redis://HOST:PORT/DB`; scheme, port and DB may be left out, and empty is none."""
    if not text:
        return None
    if "@" in text:
        # Not repeated: what is before the @ is a password.
        raise argparse.ArgumentTypeError(
            "holds a user or password: give the password as INSTANCE_REDIS_PASSWORD"
        )
    authority, _, db = text.removeprefix("redis://").partition("/")
    has_port = ":" in authority.rpartition("]")[2]
    try:
        address = parse_host_port(authority if has_port else f"{authority}:{_DEFAULT_PORT}")
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be redis://HOST:PORT/DB: {error}") from None
    if db and not (db.isascii() and db.isdigit() and int(db) < _DBS):
        raise argparse.ArgumentTypeError(f"must be redis://HOST:PORT/DB with a number, not {db!r}")
    return address, int(db or 0)
