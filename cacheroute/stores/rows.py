"""A registered Instance, the links it has measured and its orders, as one JSON text each, and back.

Only what it said itself is written. Keys are not; models and fingerprint are worked out
again when it is taken back.
"""

from typing import Annotated, Any

import msgspec

from cacheroute.core.instance import Instance
from cacheroute.core.orders import Orders
from cacheroute.core.topology import Link, Scalar
from cacheroute.stores.base import SavedLinks

MAX_LINKS_BYTES = 256 * 1024
"""Largest text of one report; 1,000 links of the published kind take about 170 KiB."""


class _Row(msgspec.Struct, forbid_unknown_fields=False, kw_only=True):
    instance_id: Annotated[str, msgspec.Meta(min_length=1, max_length=264)]
    host: Annotated[str, msgspec.Meta(min_length=1)]
    port: Annotated[int, msgspec.Meta(ge=1, le=65535)]
    base_path: str = ""
    endpoints: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    weight: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    meta: dict[str, Any] = {}
    capabilities: dict[str, Any] | None = None
    registered_wall_s: float = 0.0


def to_row(instance: Instance) -> str:
    """Write an Instance."""
    row = _Row(**{name: getattr(instance, name) for name in _Row.__struct_fields__})
    return msgspec.json.encode(row).decode()


def from_row(text: str) -> Instance:
    """Read an Instance; ValueError when the text does not hold one."""
    return Instance(**msgspec.structs.asdict(msgspec.json.decode(text, type=_Row)))


class _LinksRow(msgspec.Struct, kw_only=True):
    reported_wall_s: float
    links: dict[str, dict[str, Scalar]]


def links_to_row(report: SavedLinks) -> str:
    """Write a report: of one that is too large, the first links that have room."""
    kept: dict[str, dict[str, Scalar]] = {}
    left = MAX_LINKS_BYTES
    for key, link in report.links.items():
        metrics = dict(link.metrics)
        left -= len(msgspec.json.encode({key: metrics}))
        if left < 0:
            break
        kept[key] = metrics
    row = _LinksRow(reported_wall_s=report.reported_wall_s, links=kept)
    return msgspec.json.encode(row).decode()


def links_from_row(text: str) -> SavedLinks:
    """Read a report; ValueError when the text does not hold one."""
    row = msgspec.json.decode(text, type=_LinksRow)
    return SavedLinks(
        links={key: Link.of(metrics) for key, metrics in row.links.items()},
        reported_wall_s=row.reported_wall_s,
    )


class _OrdersRow(msgspec.Struct, forbid_unknown_fields=False, kw_only=True):
    draining: bool = False
    reason: str | None = None
    since_wall_s: float | None = None
    weight: Annotated[float, msgspec.Meta(ge=0)] | None = None


def orders_to_row(orders: Orders) -> str:
    """Write what the operator has ordered of one id."""
    row = _OrdersRow(**{name: getattr(orders, name) for name in _OrdersRow.__struct_fields__})
    return msgspec.json.encode(row).decode()


def orders_from_row(text: str) -> Orders:
    """Read what was ordered; ValueError when the text does not hold it."""
    return Orders(**msgspec.structs.asdict(msgspec.json.decode(text, type=_OrdersRow)))
