"""What the control plane says of the links between Instances and knowledge nodes.

A console reads them again and again, so they are structs; `topology` has what is reported.
"""

import msgspec


class KdnLinksReply(msgspec.Struct, frozen=True, kw_only=True):
    """`GET /v1/topology/kdn_links`: the best link for each key, with its reporter."""

    kdn_links: dict[str, dict[str, object]] = {}


class LinkReportRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one Instance reported last."""

    instance_id: str
    state: str
    """`alive`, `stale` or `dead`."""
    is_alive: bool
    """Whether its links count."""
    age_s: float
    """Seconds of silence of the Instance."""
    report_age_s: float
    """Seconds since the report."""
    links: dict[str, dict[str, object]] = {}


class TopologyReply(msgspec.Struct, frozen=True, kw_only=True):
    """`GET /debug/topology`: every report, what the settings say, and what comes of both."""

    ok: bool
    generated_at: float
    """Seconds since the epoch."""
    instances: list[LinkReportRow] = []
    static: dict[str, dict[str, object]] = {}
    kdn_links: dict[str, dict[str, object]] = {}
    """The best link for each key; `reported_by` is an Instance, or `static`."""
    known_addresses: list[str] = []
    """Nodes that requests may name, besides those the settings allow."""
