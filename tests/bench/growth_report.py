"""What was found about growth, beside what is expected of it."""

import statistics
from typing import Any

from tests.bench import routers
from tests.bench.bars import Bar
from tests.bench.fleet import STATES
from tests.bench.growth import EVENTS_PER_S, FLAT_MB, FLAT_RATIO, last_quarter_mb

GROWTH_RATIO = 1.3
AGED_RATIO = 1.1
DECISION_US = 30.0


def bars(result: dict[str, Any]) -> list[Bar]:
    """Return what is expected of our own rows."""
    found = []
    for name, grown in result["instances"].items():
        what = f"{name}, CPU per request from {grown['few']} to {grown['many']} Instances"
        found.append(Bar(what=what, value=grown["ratio"], limit=GROWTH_RATIO, unit="x"))
    for row in result["decisions"]:
        if row["strategy"] == "least_load":
            what = f"least_load, one decision over {row['instances']} Instances"
            found.append(Bar(what=what, value=row["turnover_us"], limit=DECISION_US, unit=" us"))
    most = max(row["instances"] for row in result["states"])
    for row in result["states"]:
        if row["instances"] == most:
            what = f"least_load, one decision over {most} Instances where {STATES[row['state']]}"
            found.append(Bar(what=what, value=row["decision_us"], limit=DECISION_US, unit=" us"))
    streams = result["streams"][routers.ROUND_ROBIN.name]
    served = result["requests"]
    memory_mb, cpu_us = served["memory_mb"], served["cpu_us"]
    quarter_mb = last_quarter_mb(memory_mb)
    limit_mb = max(FLAT_MB, memory_mb[-1] * FLAT_RATIO)
    after = f"after {served['requests']:,} requests"
    return [
        *found,
        Bar(
            what=f"CPU per event from {streams['few']} to {streams['many']} streams",
            value=streams["ratio"], limit=GROWTH_RATIO, unit="x",
        ),
        Bar(
            what=f"CPU per request {after}",
            value=statistics.median(cpu_us[-3:]) / statistics.median(cpu_us[:3]),
            limit=AGED_RATIO, unit="x",
        ),
        Bar(what=f"memory, last quarter {after}", value=quarter_mb, limit=limit_mb, unit=" MB"),
        Bar(what=f"descriptors {after}", value=served["descriptors_more"], limit=0, unit=" more"),
    ]  # fmt: skip


def table(result: dict[str, Any]) -> str:
    """Write what was found."""
    lines = ["", "One decision in this process, CPU us"]
    lines += [
        f"  {row['strategy']:<12} {row['instances']:>5} Instances: choose "
        f"{row['select_us']:6.2f}, with lease and release {row['turnover_us']:6.2f}, "
        f"right after a change {row['rebuild_us']:8.1f}"
        for row in result["decisions"]
    ]
    lines += ["", "One decision of least_load by what the fleet is at, with all it is told, CPU us"]
    lines += [
        f"  {row['state']:<12} {row['instances']:>5} Instances: {row['decision_us']:6.2f}, "
        f"{row['weighed']:.1f} boards weighed"
        for row in result["states"]
    ]
    lines += ["", "CPU us per request, few and many Instances"]
    lines += [_line(name, grown, "Instances") for name, grown in result["instances"].items()]
    lines += ["", f"CPU us per event, few and many streams, {EVENTS_PER_S:,} events/s in all"]
    lines += [_line(name, grown, "streams") for name, grown in result["streams"].items()]
    served = result["requests"]
    lines += [
        "",
        f"{served['requests']:,} requests in {len(served['memory_mb'])} slices",
        f"  MB          {served['memory_mb']}",
        f"  us/request  {served['cpu_us']}",
        f"  descriptors more than at the start: {served['descriptors_more']}",
    ]
    return "\n".join(lines)


def _line(name: str, grown: dict[str, Any], unit: str) -> str:
    idle = f", idle {grown['idle_ratio']:.1%} of a CPU" if "idle_ratio" in grown else ""
    return (
        f"  {name:<12} {grown['few']} {unit} {grown['few_us']:.1f}, {grown['many']} {unit} "
        f"{grown['many_us']:.1f}: {grown['ratio']:.2f}x ({grown['ratio_min']:.2f}-"
        f"{grown['ratio_max']:.2f}), {grown['memory_mb']:.0f} MB{idle}"
    )
