"""An operator's desk: a Proxy with a clock that stands still, a store, and a list for an audit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cacheroute.core.changes import Effect, Objection, Who
from cacheroute.core.instance import Instance
from cacheroute.core.routing.weights import Weights
from cacheroute.runtime.operating import Operator
from cacheroute.runtime.proxy import Proxy
from cacheroute.stores.base import OrderStore
from cacheroute.stores.memory import MemoryRegistry
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.runtime.runtime_parts import HandClock, a_proxy

ME = Who(peer="127.0.0.1", user="kim@desk", token="0a1b2c3d")


class Lines:
    """An audit that is looked at."""

    def __init__(self) -> None:
        self.lines: list[Mapping[str, object]] = []

    def add(self, line: Mapping[str, object]) -> None:
        self.lines.append(line)

    @property
    def told(self) -> list[tuple[object, object]]:
        return [(line["verb"], line["instance_id"]) for line in self.lines]


@dataclass(slots=True, eq=False)
class Desk:
    """Whom an operator talks to, and what he sees."""

    proxy: Proxy
    clock: HandClock
    store: OrderStore
    audit: Lines
    operator: Operator
    unregistered: list[str] = field(default_factory=list)

    def drain(self, *ids: str, **given: Any) -> Effect | Objection:
        whole = {"reason": None, "force": False, "dry_run": False, **given}
        return self.operator.drain(ids, ME, **whole)

    def undrain(self, *ids: str, dry_run: bool = False) -> Effect | Objection:
        return self.operator.undrain(ids, ME, dry_run=dry_run)

    def weigh(self, weight: float | None, *ids: str, **given: Any) -> Effect | Objection:
        return self.operator.weigh(ids, weight, ME, **{"force": False, "dry_run": False, **given})

    def unregister(self, *ids: str, **given: Any) -> Effect | Objection:
        return self.operator.unregister(ids, ME, **{"force": False, "dry_run": False, **given})

    @property
    def routable(self) -> set[str]:
        """Who may be chosen."""
        return {
            member.instance.instance_id
            for member in self.proxy.pool.alive(self.clock.now())
            if not member.draining and member.weight > 0
        }


def a_desk(
    *fleet: Instance, store: OrderStore | None = None, strategy: str = "round_robin"
) -> Desk:
    """Return a desk before these Instances."""
    proxy, clock = a_proxy(*fleet, strategy=strategy)
    audit, kept = Lines(), store or MemoryRegistry()

    def unregister(instance_id: str) -> bool:
        return proxy.pool.unregister(instance_id) is not None

    operator = Operator(
        proxy=proxy, store=kept, audit=audit, weights=Weights(), unregister=unregister
    )
    return Desk(proxy, clock, kept, audit, operator)


def fleet(count: int, **given: Any) -> list[Instance]:
    """Return so many Instances, i-1 first."""
    return [an_instance(f"i-{n}", port=9000 + n, **given) for n in range(1, count + 1)]


def effect(outcome: Effect | Objection) -> Effect:
    """Return what a change does, which must be allowed."""
    assert isinstance(outcome, Effect), outcome
    return outcome


def objection(outcome: object) -> Objection:
    """Return why a change is refused, which it must be."""
    assert isinstance(outcome, Objection), outcome
    return outcome
