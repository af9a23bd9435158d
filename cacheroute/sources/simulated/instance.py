"""One simulated Instance: what runs on it, what it reports, and what is wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from cacheroute.core.pressure import Pressure
from cacheroute.core.routing.load import load_cost, signals

Trouble = Literal["silent", "resting", "drained", "hot", "unmeasured"]
"""What may be wrong with one, each for a while; the last two are for good."""

SLOTS = 8
PREPARED_AT_ONCE = 2
MEMORY_MB = 256_000.0
GPU_MEMORY_MB = 81_920.0
_HOT_LOAD = 6.0


@dataclass(slots=True)
class Work:
    """One request on an Instance."""

    prepares_until_s: float
    prefills_until_s: float
    ends_s: float


@dataclass(slots=True)
class SimInstance:
    """One Instance; times are seconds since the simulation began."""

    id: str
    host: str
    port: int
    models: list[str]
    speed: float
    """How fast it is; 1 is usual."""
    chance: Random
    trouble: Trouble | None = None
    trouble_until_s: float = 0.0
    seen_s: float = 0.0
    reported_s: float | None = None
    registered_s: float = 0.0
    requests: int = 0
    failures: int = 0
    work: list[Work] = field(default_factory=list)
    cpu_util: float = 20.0
    memory_used_mb: float = 60_000.0
    gpu_util: float = 30.0
    gpu_mem_used_mb: float = 40_000.0
    rx_mbps: float = 50.0
    tx_mbps: float = 10.0

    def state(self, now_s: float, ttl_s: float) -> str:
        """Tell alive, stale and dead apart, as a Proxy does."""
        age_s = now_s - self.seen_s
        if age_s <= ttl_s:
            return "alive"
        return "stale" if age_s <= 3 * ttl_s else "dead"

    @property
    def is_draining(self) -> bool:
        """Whether it takes nothing new."""
        return self.trouble == "drained"

    def rests_s(self, now_s: float) -> float:
        """Return how much longer it is kept out after failures."""
        return max(0.0, self.trouble_until_s - now_s) if self.trouble == "resting" else 0.0

    def takes_work(self, now_s: float, ttl_s: float) -> bool:
        """Whether it may be chosen."""
        is_well = self.trouble not in ("drained", "resting")
        return is_well and self.state(now_s, ttl_s) == "alive"

    @property
    def inflight(self) -> int:
        """Requests on it."""
        return len(self.work)

    def pressure(self, now_s: float) -> Pressure:
        """Return what waits and runs for it."""
        preparing = sum(1 for each in self.work if each.prepares_until_s > now_s)
        released = [each for each in self.work if each.prepares_until_s <= now_s]
        waiting = max(0, len(released) - SLOTS)
        running = released[:SLOTS]
        prefills = [each for each in running if each.prefills_until_s > now_s]
        slot_ms = 0.0
        if len(released) >= SLOTS:
            slot_ms = 1000 * max(0.0, min(each.ends_s for each in running) - now_s)
        free_ms = 1000 * max((each.prefills_until_s - now_s for each in prefills), default=0.0)
        return Pressure(
            prepare_queue_depth=max(0, preparing - PREPARED_AT_ONCE),
            ready_queue_depth=waiting,
            active_prepare=min(PREPARED_AT_ONCE, preparing),
            active_ready=len(running),
            pending_prefill_count=len(prefills),
            active_decode_count=len(running) - len(prefills),
            next_slot_ready_in_ms=slot_ms,
            prefill_free_in_ms=free_ms,
            predicted_total_backlog_ms=max(slot_ms, free_ms),
        )

    def cost(self, now_s: float, weights: Mapping[str, float]) -> float:
        """Return its least_load score."""
        cost = load_cost(signals(inflight=self.inflight, pressure=self.pressure(now_s)), weights)
        return 0.0 if cost is None else cost.total

    def step(self, now_s: float, passed_s: float) -> int:
        """Let time pass; returns how many requests have ended."""
        before = len(self.work)
        if before:
            self.work = [each for each in self.work if each.ends_s > now_s]
        ended = before - len(self.work)
        self.requests += ended
        if self.trouble != "silent":
            self._speak(now_s, passed_s)
        return ended

    def _speak(self, now_s: float, passed_s: float) -> None:
        chance = self.chance
        if chance.random() < passed_s:
            self.seen_s = now_s - chance.uniform(0.0, passed_s)
        if self.trouble == "unmeasured" or chance.random() > passed_s:
            return
        self.reported_s = self.seen_s = now_s
        load = self.inflight / SLOTS + (_HOT_LOAD if self.trouble == "hot" else 0.0)
        self.gpu_util = _toward(self.gpu_util, 12 + 75 * load, chance, 6.0, 100.0)
        self.cpu_util = _toward(self.cpu_util, 8 + 40 * load, chance, 4.0, 100.0)
        share = 0.25 + 0.5 * min(1.0, load)
        self.memory_used_mb = _toward(
            self.memory_used_mb, MEMORY_MB * share, chance, 900.0, MEMORY_MB
        )
        self.gpu_mem_used_mb = _toward(
            self.gpu_mem_used_mb, GPU_MEMORY_MB * (share + 0.15), chance, 400.0, GPU_MEMORY_MB
        )
        self.rx_mbps = _toward(self.rx_mbps, 900 * load, chance, 30.0, 10_000.0)
        self.tx_mbps = _toward(self.tx_mbps, 110 * load, chance, 6.0, 10_000.0)

    @property
    def admission_state(self) -> str | None:
        """What its agent thinks of more work."""
        if self.reported_s is None:
            return None
        if self.gpu_util >= 97:
            return "rejecting"
        return "degraded" if self.gpu_util >= 90 else "accepting"

    def as_reported(self) -> dict[str, object]:
        """Return its host as an agent would report it: two GPUs that share the work."""
        cards = (0.9, 1.1)
        return {
            "devices": {
                "cpu": {"utilization_pct": self.cpu_util},
                "memory": {"used_mb": self.memory_used_mb, "total_mb": MEMORY_MB},
                "gpu": [
                    {
                        "index": number,
                        "name": "Simulated GPU",
                        "utilization_pct": round(min(100.0, share * self.gpu_util), 1),
                        "memory_used_mb": round(self.gpu_mem_used_mb / 2, 1),
                        "memory_total_mb": GPU_MEMORY_MB / 2,
                    }
                    for number, share in enumerate(cards)
                ],
                "network": [
                    {"iface": "eth0", "rx_mbps": self.rx_mbps, "tx_mbps": self.tx_mbps},
                ],
            },
            "capacity_hint": {"admission_state": self.admission_state},
        }


def _toward(value: float, goal: float, chance: Random, noise: float, most: float) -> float:
    moved = value + 0.4 * (min(goal, most) - value) + chance.gauss(0.0, noise / 3)
    return round(min(max(0.0, moved), most), 1)
