"""How a Proxy stands with its Scheduler, from the Proxy's side or from the Scheduler's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cacheroute.console import cast
from cacheroute.console.columns import Kind, Tone

if TYPE_CHECKING:
    from cacheroute.wire.debug import SchedulerReply
    from cacheroute.wire.scheduler import ProxyRow

_TONES: dict[str, Tone] = {
    "registered": "good",
    "alive": "good",
    "off": "dim",
    "registering": "plain",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerRow:
    """One Proxy and its Scheduler; what the side that was asked cannot know is None."""

    proxy_id: str | None
    url: str | None
    """Of the Scheduler; None where the Proxy registers with none."""
    asked: Literal["proxy", "scheduler"]
    """Who told it."""
    state: str
    """`off`, `registering`, `registered`, `unreachable`, `refused`; `alive` or `stale`."""
    state_age_s: float | None
    heard_age_s: float | None
    """Since the last call that worked."""
    registrations: int | None
    """More than one means that the Scheduler had forgotten the Proxy."""
    heartbeats: int | None
    failures: int | None
    """Calls that failed one after the other."""
    last_error: str | None
    heartbeat_interval_s: float | None
    address: str | None
    """Where the Scheduler sends requests."""
    instance_count: int | None
    inflight: int | None
    qps_1m: float | None


def row_of_proxy(reply: SchedulerReply) -> SchedulerRow:
    """Take over what the Proxy says."""
    return SchedulerRow(
        proxy_id=reply.proxy_id,
        url=reply.url,
        asked="proxy",
        state=reply.state,
        state_age_s=reply.state_age_s,
        heard_age_s=reply.heard_age_s,
        registrations=reply.registrations,
        heartbeats=reply.heartbeats,
        failures=reply.failures,
        last_error=reply.last_error,
        heartbeat_interval_s=reply.heartbeat_interval_s,
        address=None,
        instance_count=None,
        inflight=None,
        qps_1m=None,
    )


def rows_of_scheduler(proxies: Iterable[ProxyRow], url: str) -> list[SchedulerRow]:
    """Take over what the Scheduler says of every Proxy it knows."""
    return [
        SchedulerRow(
            proxy_id=proxy.proxy_id,
            url=url,
            asked="scheduler",
            state="alive" if proxy.is_alive else "stale",
            state_age_s=None,
            heard_age_s=None,
            registrations=None,
            heartbeats=None,
            failures=None,
            last_error=None,
            heartbeat_interval_s=None,
            address=f"{proxy.host}:{proxy.port}",
            instance_count=proxy.instance_count,
            inflight=proxy.inflight,
            qps_1m=proxy.qps_1m,
        )
        for proxy in proxies
    ]


def _tone(row: SchedulerRow) -> Tone:
    return _TONES.get(row.state, "bad")


_NOT_TOLD = "Whoever was asked does not know it."

COLUMNS = (
    cast.word("proxy_id", "PROXY", "Name of the Proxy.", aliases=("id",), gives_way=True),
    cast.word("url", "SCHEDULER", "Where the Scheduler is.", gives_way=True,
        unknown="The Proxy registers with none."),
    cast.word(
        "state", "STATE",
        "off, registering, registered, unreachable or refused, as the Proxy sees it; "
        "alive or stale, as the Scheduler does.",
        tone=_tone,
    ),
    cast.duration("state_age_s", "FOR", "For how long it has been so.", source="the Proxy",
        unknown=_NOT_TOLD, spare=True),
    cast.duration("heard_age_s", "HEARD", "Time since a call to the Scheduler has worked.",
        source="the Proxy", unknown="None has, or the Scheduler was asked.", spare=True),
    cast.count("registrations", "REG", "How often it registered; more than once means that the "
        "Scheduler had forgotten it.", source="the Proxy", unknown=_NOT_TOLD, spare=True),
    cast.count("failures", "FAIL", "Calls that failed one after the other.", source="the Proxy",
        unknown=_NOT_TOLD, spare=True),
    cast.count("heartbeats", "BEATS", "Heartbeats that were sent.", source="the Proxy",
        unknown=_NOT_TOLD, wide=True),
    cast.duration("heartbeat_interval_s", "EVERY", "How often the Scheduler wants to hear.",
        source="the Scheduler", unknown=_NOT_TOLD, wide=True),
    cast.word("last_error", "LAST ERROR", "What went wrong last; kept when all is well again.",
        source="the Proxy", unknown="Nothing has.", gives_way=True, spare=True),
    cast.word("address", "ADDRESS", "Where the Scheduler sends requests.",
        source="the Scheduler", unknown=_NOT_TOLD, spare=True),
    cast.count("instance_count", "INST", "Instances the Proxy said it has.",
        source="the Scheduler", unknown=_NOT_TOLD, spare=True),
    cast.count("inflight", "INFL", "Requests at the Proxy.", source="the Scheduler",
        unknown=_NOT_TOLD, spare=True),
    cast.rate("qps_1m", "QPS", "Requests a second over the last minute.",
        source="the Scheduler", unknown=_NOT_TOLD, wide=True),
)  # fmt: skip

SCHEDULER: Kind[SchedulerRow] = Kind(
    name="scheduler",
    noun="Proxies",
    columns=COLUMNS,
    name_of=lambda row: row.proxy_id or "",
    searched=lambda row: f"{row.proxy_id or ''} {row.url or ''}",
)
