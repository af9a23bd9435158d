"""The sections of the knowledge path: the Scheduler above, knowledge nodes beside, forecasts.

Addresses are checked here and spoken to elsewhere; a link or a coefficient that makes no
sense stops the start instead of spoiling decisions later.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    InstanceOf,
    NonNegativeFloat,
    NonNegativeInt,
)

from cacheroute.core.injection.rules import DEFAULT_BANDWIDTH_MBPS, InjectionRules
from cacheroute.core.predict.coefficients import PUBLISHED, Coefficients, parse_coefficients
from cacheroute.core.topology import MAX_LINKS_PER_REPORT, Link, address_of
from cacheroute.formats.address import Origin, parse_base_url, parse_host_port
from cacheroute.settings.constraints import Count, Seconds
from cacheroute.settings.sections import Section
from cacheroute.wire.fields import Word
from cacheroute.wire.topology import KdnKey, LinkBody

ANY = "*"
MAX_COEFFICIENTS_BYTES = 1024 * 1024


def _scheduler_url(given: object) -> object:
    if not isinstance(given, str):
        return given
    if given.strip().lower().startswith("https:"):
        raise ValueError(
            "asks for TLS, but the Scheduler is spoken to in plain HTTP: use http://, or put a "
            "TLS client (stunnel, nginx) between"
        )
    return parse_base_url(given)


def _kdn_address(text: str) -> str:
    if text.strip() == ANY:
        return ANY
    plain = address_of(text)
    if plain is None:
        raise ValueError(f"must be {ANY} or host:port, such as 10.0.0.7:9101, not {text[:160]!r}")
    return parse_host_port(plain).authority


def _measured(links: Mapping[str, LinkBody]) -> Mapping[str, LinkBody]:
    for key, link in links.items():
        if (link.bandwidth_mbps, link.latency_ms, link.rtt_ms) == (None, None, None):
            raise ValueError(f"{key[:128]!r} needs bandwidth_mbps or latency_ms")
    return links


def _bandwidth(given: object) -> object:
    """Take the published 0, which says that nobody has set one."""
    is_zero = given == 0 or (isinstance(given, str) and given.strip() in ("0", "0.0"))
    return DEFAULT_BANDWIDTH_MBPS if is_zero and not isinstance(given, bool) else given


class SchedulerSettings(Section):
    """The Scheduler that this Proxy registers with."""

    url: Annotated[InstanceOf[Origin], BeforeValidator(_scheduler_url)] | None = None
    """Control plane of the Scheduler, such as http://127.0.0.1:7002; none registers nowhere."""
    heartbeat_s: Seconds = 5.0
    """Time between two heartbeats until the Scheduler has named its own, in seconds."""
    timeout_s: Seconds = 5.0
    """Longest wait for an answer of the Scheduler, in seconds."""
    instance_count: NonNegativeInt = 1
    """Instances that the Scheduler is told of; it counts KV memory with it."""
    kv_mem_per_instance_gb: NonNegativeFloat = 128.0
    """KV memory of each Instance that the Scheduler is told of, in GB."""
    kv_cache_update_policy: Word = "lru"
    """How Instances make room in their KV memory, as the Scheduler is told."""


class KdnSettings(Section):
    """Knowledge nodes: which may be asked, and how far they are."""

    allow: tuple[Annotated[str, AfterValidator(_kdn_address)], ...] = ()
    """Nodes (`host:port`) that may be asked besides those of the topology; `*` is any."""
    links: Annotated[
        Mapping[KdnKey, LinkBody],
        Field(max_length=MAX_LINKS_PER_REPORT),
        AfterValidator(_measured),
    ] = {}
    """Links that no Instance measures, by node: `{"10.0.0.7:9101": {"bandwidth_mbps": 1000}}`."""
    lookup_timeout_s: Seconds = 10.0
    """Longest wait for the texts of a request, in seconds; after it, the request goes without."""
    inject_timeout_s: Seconds = 60.0
    """Longest wait for an injection of KV, in seconds; after it, text takes its place."""
    reply_bytes: Count = 16 * 1024 * 1024
    """Largest answer of a node, in bytes; a larger one counts as none."""

    @property
    def static_links(self) -> Mapping[str, Link]:
        """The links as the topology takes them."""
        return {key: Link.of(link.as_reported()) for key, link in self.links.items()}


class PredictSettings(Section):
    """Where forecasts of latency come from."""

    coefficients: Path | None = None
    """File that `cacheroute calibrate` wrote; none takes the fit to the published tables."""

    def load(self) -> Coefficients:
        """Read the coefficients; ValueError says what is wrong, one sentence a line."""
        if self.coefficients is None:
            return PUBLISHED
        path = self.coefficients.expanduser()
        try:
            with path.open("rb") as file:
                raw = file.read(MAX_COEFFICIENTS_BYTES + 1)
        except OSError as error:
            raise ValueError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
        if len(raw) > MAX_COEFFICIENTS_BYTES:
            raise ValueError(f"{path} is larger than {MAX_COEFFICIENTS_BYTES} bytes")
        try:
            read = json.loads(raw)
        except (ValueError, RecursionError):
            raise ValueError(f"{path} is not JSON") from None
        if not isinstance(read, dict):
            raise ValueError(f"{path} must hold a JSON object")
        return parse_coefficients(read)


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionSettings(InjectionRules):
    """The choice between text and KV, as the core has it."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = {
        "extra": "forbid",
        "allow_inf_nan": False,
        "hide_input_in_errors": True,
    }

    default_bandwidth_mbps: Annotated[float, BeforeValidator(_bandwidth)] = DEFAULT_BANDWIDTH_MBPS
    """Bandwidth of a link that nobody measured, in 10^6 bit/s; 0 is this default."""
