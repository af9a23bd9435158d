"""A simulated pool and its traffic, step by step.

Every half second has the same outcome however often somebody looks: what happens is drawn from
a generator that only steps use.
"""

from collections import deque
from collections.abc import Iterator
from math import pi, sin
from random import Random

from cacheroute.core.routing.weights import Weights
from cacheroute.sources.simulated.instance import SimInstance, Trouble, Work
from cacheroute.sources.simulated.stories import Placed, Stories

STEP_S = 0.5
TTL_S = 30.0
WAVE_S = 180.0
"""From one high tide of requests to the next."""
CATCH_UP_S = 900.0
"""What is left out when nobody has looked for longer than that."""
MODELS = ("demo-8b", "demo-70b")
KDNS = ("kdn-1", "kdn-2", "kdn-3")
_LASTING: dict[Trouble, tuple[float, float]] = {
    "silent": (40.0, 150.0),
    "resting": (10.0, 30.0),
    "drained": (30.0, 90.0),
    "hot": (20.0, 60.0),
}
_REQUESTS_PER_INSTANCE_S = 0.9
_TOLD_AT_ONCE = 12
"""Requests of a step that are told in full; of a thousand Instances nobody reads all."""


class Fleet:
    """The pool."""

    def __init__(self, *, instances: int, seed: int) -> None:
        self._chance = Random(seed)
        self.weights = Weights()
        self._by_name = self.weights.as_mapping()
        self.now_s = 0.0
        self.instances = [self._instance(number) for number in range(instances)]
        self.stories = Stories(Random(seed + 1))
        self.links = dict(self._links())
        self.changes = 0
        """Moves with every step."""
        self._turn = 0
        self._ended: deque[Placed] = deque()
        self._start()

    def _instance(self, number: int) -> SimInstance:
        chance = Random(self._chance.getrandbits(32))
        return SimInstance(
            id=f"inst-{9001 + number}",
            host=f"10.0.{number // 250}.{number % 250 + 1}",
            port=9001,
            models=[MODELS[0] if number % 4 else MODELS[1]],
            speed=chance.choice((0.7, 1.0, 1.0, 1.0, 1.3)),
            chance=chance,
            trouble="unmeasured" if number % 11 == 10 else None,
            trouble_until_s=float("inf"),
        )

    def _start(self) -> None:
        for instance in self.instances:
            instance.seen_s = -instance.chance.uniform(0.0, 2.0)
            if instance.trouble is None:
                instance.reported_s = instance.seen_s

    def begin(self) -> None:
        """Let some be in trouble now, so that a first look shows what there is to see."""
        well = [each for each in self.instances if each.trouble is None][2:]
        first: tuple[tuple[Trouble, float], ...] = (
            ("drained", 0.0), ("silent", 41.0), ("silent", 123.0), ("resting", 0.0),
        )  # fmt: skip
        for instance, (trouble, silent_s) in zip(well, first, strict=False):
            instance.trouble, instance.trouble_until_s = trouble, self.now_s + 60.0
            if silent_s:
                instance.seen_s = instance.reported_s = self.now_s - silent_s
                instance.work.clear()

    def _links(self) -> Iterator[tuple[tuple[str, str], tuple[float, float]]]:
        for instance in self.instances[:64]:
            for number, kdn in enumerate(KDNS):
                bandwidth = self._chance.choice((90.0, 820.0, 940.0, 9_400.0)) / (1 + number)
                yield (instance.id, kdn), (round(bandwidth, 1), round(1.2 + 4 * number, 2))

    def advance(self, now_s: float) -> None:
        """Let time pass up to then; time never goes back."""
        if now_s - self.now_s > CATCH_UP_S:
            # Nobody was here to see it.
            skipped = int((now_s - CATCH_UP_S - self.now_s) / STEP_S) * STEP_S
            self.now_s += skipped
            for instance in self.instances:
                instance.work.clear()
        while self.now_s + STEP_S <= now_s:
            self.now_s = round(self.now_s + STEP_S, 6)
            self._step()

    # Within

    def _step(self) -> None:
        now_s = self.now_s
        self.changes += 1
        self._trouble()
        for instance in self.instances:
            instance.step(now_s, STEP_S)
        while self._ended and self._ended[0].ends_s <= now_s:
            self.stories.end(self._ended.popleft())
        self._arrive()

    def _trouble(self) -> None:
        chance = self._chance
        for instance in self.instances:
            if instance.trouble is not None and instance.trouble_until_s <= self.now_s:
                instance.trouble = None
        # About one in forty is in trouble at a time.
        if chance.random() < STEP_S * len(self.instances) / 2_400 + STEP_S / 60:
            self._befall(chance)

    def _befall(self, chance: Random) -> None:
        if not self.instances:
            return
        instance = chance.choice(self.instances)
        if instance.trouble is None:
            trouble = chance.choice(tuple(_LASTING))
            instance.trouble = trouble
            least_s, most_s = _LASTING[trouble]
            instance.trouble_until_s = self.now_s + chance.uniform(least_s, most_s)
            instance.failures += 3 if trouble == "resting" else 0

    def _arrive(self) -> None:
        chance, now_s = self._chance, self.now_s
        tide = 0.6 + 0.4 * sin(2 * pi * now_s / WAVE_S)
        mean = len(self.instances) * _REQUESTS_PER_INSTANCE_S * STEP_S * tide
        count = max(0, round(chance.gauss(mean, mean**0.5))) if mean else 0
        open_ = [each for each in self.instances if each.takes_work(now_s, TTL_S)]
        told = 0
        for _ in range(count):
            if not open_:
                self.stories.refuse(now_s, len(self.instances))
                break
            chosen, next_ = self._choose(open_)
            if told >= _TOLD_AT_ONCE:
                chosen.work.append(self._work(chosen))
                continue
            told += 1
            cost, next_cost = self._cost(chosen), None if next_ is None else self._cost(next_)
            if next_ is not None and next_cost is not None and next_cost < cost:
                chosen, next_, cost, next_cost = next_, chosen, next_cost, cost
            work = self._work(chosen)
            chosen.work.append(work)
            placed = self.stories.place(
                now_s,
                chosen,
                work,
                cost=cost,
                next_=next_,
                next_cost=next_cost,
                considered=len(open_),
                left_out=len(self.instances) - len(open_),
            )
            self._ended.append(placed)
        self._ended = deque(sorted(self._ended, key=lambda placed: placed.ends_s))

    def _choose(self, open_: list[SimInstance]) -> tuple[SimInstance, SimInstance | None]:
        """Choose the least loaded of a few, as they come up in turn."""
        first, second = None, None
        for offset in range(min(len(open_), 24)):
            each = open_[(self._turn + offset) % len(open_)]
            if first is None or each.inflight < first.inflight:
                first, second = each, first
            elif second is None or each.inflight < second.inflight:
                second = each
        self._turn += 1
        assert first is not None, "somebody is open"  # noqa: S101
        return first, second

    def _cost(self, instance: SimInstance) -> float:
        return instance.cost(self.now_s, self._by_name)

    def _work(self, instance: SimInstance) -> Work:
        chance, now_s = self._chance, self.now_s
        prepare_s = chance.uniform(0.01, 0.3) if chance.random() < 0.4 else 0.0
        wait_s = 0.15 * max(0, instance.inflight - 4)
        prefill_s = chance.uniform(0.08, 0.5) / instance.speed
        decode_s = min(30.0, chance.expovariate(1 / 3.0)) + 0.2
        sent_s = now_s + prepare_s + wait_s
        return Work(
            prepares_until_s=now_s + prepare_s,
            prefills_until_s=sent_s + prefill_s,
            ends_s=sent_s + prefill_s + decode_s,
        )
