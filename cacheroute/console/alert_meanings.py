"""What each kind of alert means, who says so, and where its threshold is set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cacheroute.console.alerts import ASKED_LATELY_S, FEWEST_REQUESTS, SLOWER_MS, AlertKind
from cacheroute.console.amounts import render_number
from cacheroute.console.rules import Limits, Rules

_AGENT = "the host's agent, in its last report"
_NOT_REPORTED = "Nobody has reported it, so there is no alert."
_TABLE = "alerts"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertMeaning:
    """One kind of alert."""

    meaning: str
    threshold: str
    """From when on it is told."""
    settings: tuple[str, ...] = ()
    """What sets that, by the names of `Rules`; none where the Proxy decides."""
    source: str
    unknown: str | None = None
    """What it means that there is no value; None where there always is one."""
    unit: str | None = None


MEANINGS: Mapping[AlertKind, AlertMeaning] = {
    "pool": AlertMeaning(
        meaning="No Instance is alive, so the Proxy has nobody to send a request to.",
        threshold="Told when none is alive.",
        source="the Proxy's list of Instances",
    ),
    "dead": AlertMeaning(
        meaning="An Instance was silent for so long that the Proxy has given it up.",
        threshold="Told from three times the time to live on, the Proxy's pool.ttl_s.",
        source="the time since its last heartbeat, by the Proxy's clock",
        unit="s",
    ),
    "stale": AlertMeaning(
        meaning="An Instance is silent, and gets no requests until it is heard of again.",
        threshold="Told from the time to live on, the Proxy's pool.ttl_s.",
        source="the time since its last heartbeat, by the Proxy's clock",
        unit="s",
    ),
    "ejected": AlertMeaning(
        meaning="An Instance failed several times in a row, and rests before it is tried again.",
        threshold="Told while it rests; the Proxy's health rules say how long.",
        source="the Proxy, from how its requests ended",
        unit="s",
    ),
    "probe": AlertMeaning(
        meaning="An Instance from the settings has answered no probe for long. It never expires, "
        "so the Proxy goes on trying it.",
        threshold="Told over probe_s; the Proxy probes every pool.health_check_interval_s.",
        settings=("probe_s",),
        source="the time since its last good probe, by the Proxy's clock",
        unit="s",
    ),
    "hung": AlertMeaning(
        meaning="Requests wait for an Instance that has begun and ended no answer for long, though "
        "it may well be alive: it is stuck, or reads a very long prompt.",
        threshold="Told over hung_s.",
        settings=("hung_s",),
        source="the Proxy, from the answers that come in",
        unknown="No request has waited for an answer of its for 5 s.",
        unit="s",
    ),
    "skew": AlertMeaning(
        meaning="One Instance works on far more requests than the median of those alive.",
        threshold="Told over skew_ratio times the median, if it is skew_min requests more.",
        settings=("skew_ratio", "skew_min"),
        source="counted by the Proxy",
        unknown="An Instance whose requests are not told is left out.",
    ),
    "slow": AlertMeaning(
        meaning="The first token takes far longer at one Instance (p95) than at the median of "
        "the others that serve the same models.",
        threshold=f"Told over ttft_ratio times that median, if it is {SLOWER_MS} ms "
        f"longer, from {FEWEST_REQUESTS} requests on.",
        settings=("ttft_ratio",),
        source="the last requests of each Instance, at most ten minutes old",
        unknown=f"Fewer than {FEWEST_REQUESTS} requests have told it, so there is no alert.",
        unit="ms",
    ),
    "gpu": AlertMeaning(
        meaning="GPU use is past its threshold.",
        threshold="Told from the first value of gpu on, and bad from the second.",
        settings=("gpu",),
        source=f"{_AGENT}, or else its heartbeat",
        unknown=_NOT_REPORTED,
        unit="%",
    ),
    "mem": AlertMeaning(
        meaning="Memory use of a host is past its threshold.",
        threshold="Told from the first value of mem on, and bad from the second.",
        settings=("mem",),
        source=_AGENT,
        unknown=_NOT_REPORTED,
        unit="%",
    ),
    "report": AlertMeaning(
        meaning="The last resource report is so old that it says little about now.",
        threshold="Told over report_age_s.",
        settings=("report_age_s",),
        source="the Proxy's clock",
        unknown="No agent has reported for it, so there is no alert.",
        unit="s",
    ),
    "backlog": AlertMeaning(
        meaning="A new request would wait long, as predicted.",
        threshold="Told over backlog_ms.",
        settings=("backlog_ms",),
        source="predicted by the Proxy",
        unknown="Nothing queues for it, or the Proxy does not say, so there is no alert.",
        unit="ms",
    ),
    "kdn": AlertMeaning(
        meaning="A knowledge node did not answer when requests needed it, so these went on with "
        "less: with the text where KV was wanted, or with no knowledge at all.",
        threshold="Told when it has answered nobody for longer than kdn_s, and was asked in the "
        f"last {ASKED_LATELY_S // 60} minutes.",
        settings=("kdn_s",),
        source="the Proxy, from its requests to the node; it does not probe nodes",
        unknown="No request has needed the node, so there is no alert.",
        unit="s",
    ),
}
"""Every kind."""


def where_set(kind: AlertKind, rules: Rules) -> Sequence[str]:
    """Return the settings of a threshold with the values in force: `alerts.gpu = [75, 95]`."""
    return [f"{_TABLE}.{name} = {_written(rules, name)}" for name in MEANINGS[kind].settings]


def _written(rules: Rules, name: str) -> str:
    value: float | Limits = getattr(rules, name)
    if isinstance(value, Limits):
        return f"[{render_number(value.warn)}, {render_number(value.bad)}]"
    return render_number(value)
