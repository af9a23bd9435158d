"""What a simulated Proxy tells of its requests: who got them and why, and how they went."""

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass
from random import Random

from cacheroute.sources.simulated.instance import SimInstance, Work
from cacheroute.wire.decisions import DecisionRow
from cacheroute.wire.traces import RequestRow, RoomRow

TTFT_BOUNDS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
KEPT_DECISIONS = 1_024
KEPT_TRACES = 512
_PATHS = ("kv_inject", "text_inject", "no_kv_ready_fallback_text")
_STORY_SHARE = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A request that runs."""

    came_s: float
    sent_s: float
    first_s: float
    ends_s: float
    prepared_s: float
    request_id: str
    instance_id: str
    model: str
    path: str | None
    predicted_ttft_ms: float | None
    prompt_tokens: int
    completion_tokens: int


class Stories:
    """The last decisions and requests, newest last."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.decisions: deque[DecisionRow] = deque(maxlen=KEPT_DECISIONS)
        self.traces: deque[RequestRow] = deque(maxlen=KEPT_TRACES)
        self.decided = 0
        self.ended = 0
        self.failed = 0
        self.errors: deque[float] = deque(maxlen=KEPT_TRACES)
        self.ttft_counts = [0] * (len(TTFT_BOUNDS_S) + 1)
        """Times to first token by bucket."""
        self.by_path: dict[str, int] = {}
        self.tokens = (0, 0)
        """Of all prompts, and of all answers."""

    def place(
        self,
        now_s: float,
        chosen: SimInstance,
        work: Work,
        *,
        cost: float,
        next_: SimInstance | None,
        next_cost: float | None,
        considered: int,
        left_out: int,
    ) -> Placed:
        """A request was given to an Instance."""
        chance = self._chance
        request_id = f"r-{chance.getrandbits(32):08x}"
        path = chance.choice(_PATHS) if chance.random() < _STORY_SHARE else None
        ttft_ms = 1000 * (work.prefills_until_s - now_s)
        mode = None if path is None else "kvcache" if path == "kv_inject" else "text"
        self.decided += 1
        self.decisions.append(
            DecisionRow(
                seq=self.decided,
                at=now_s,
                request_id=request_id,
                strategy="least_load",
                model=chosen.models[0],
                endpoint="chat/completions",
                instance_id=chosen.id,
                cost=cost,
                runner_up=None if next_ is None else next_.id,
                runner_up_cost=next_cost,
                considered=considered,
                skipped={"not_alive": left_out} if left_out else {},
                reason=_reason(chosen, cost, next_, next_cost, considered),
                injection=None if mode is None else {"injection_mode": mode},
            )
        )
        sent_s = max(work.prepares_until_s, now_s + 0.001)
        return Placed(
            came_s=now_s,
            prepared_s=work.prepares_until_s,
            sent_s=sent_s,
            first_s=work.prefills_until_s,
            ends_s=work.ends_s,
            request_id=request_id,
            instance_id=chosen.id,
            model=chosen.models[0],
            path=path,
            predicted_ttft_ms=None if path is None else ttft_ms * chance.uniform(0.8, 1.2),
            prompt_tokens=chance.randrange(40, 6_000),
            completion_tokens=max(1, round(40 * (work.ends_s - work.prefills_until_s))),
        )

    def refuse(self, now_s: float, left_out: int) -> None:
        """Nobody could be chosen."""
        self.decided += 1
        self.decisions.append(
            DecisionRow(
                seq=self.decided,
                at=now_s,
                request_id=f"r-{self._chance.getrandbits(32):08x}",
                strategy="least_load",
                endpoint="chat/completions",
                skipped={"not_alive": left_out},
                reason="No Instance takes requests.",
            )
        )

    def end(self, placed: Placed) -> None:
        """A request has ended."""
        self.ended += 1
        self.tokens = (
            self.tokens[0] + placed.prompt_tokens,
            self.tokens[1] + placed.completion_tokens,
        )
        ttft_ms = 1000 * (placed.first_s - placed.came_s)
        is_lost = self._chance.random() < 0.01
        self.failed += is_lost
        self.ttft_counts[bisect_left(TTFT_BOUNDS_S, ttft_ms / 1000)] += 1
        error_ratio = None
        if placed.predicted_ttft_ms is not None:
            error_ratio = abs(placed.predicted_ttft_ms - ttft_ms) / ttft_ms
            self.errors.append(error_ratio)
        if placed.path is not None:
            self.by_path[placed.path] = self.by_path.get(placed.path, 0) + 1
        self.traces.append(
            RequestRow(
                seq=self.ended,
                at=placed.came_s,
                request_id=placed.request_id,
                endpoint="chat/completions",
                model=placed.model,
                stream=True,
                caller="native" if placed.path is None else "scheduler",
                instance_id=placed.instance_id,
                attempts=1,
                status=200,
                outcome="upstream_lost" if is_lost else "ok",
                error=f"{placed.instance_id} closed the connection." if is_lost else None,
                sent_ms=round(1000 * (placed.sent_s - placed.came_s), 3),
                ttft_ms=round(ttft_ms, 3),
                e2e_ms=round(1000 * (placed.ends_s - placed.came_s), 3),
                prompt_tokens=placed.prompt_tokens,
                completion_tokens=placed.completion_tokens,
                path=placed.path,
                predicted_ttft_ms=placed.predicted_ttft_ms,
                actual_ttft_ms=None if placed.path is None else round(ttft_ms, 3),
                predict_error_ratio=error_ratio,
                has_story=placed.path is not None,
                rooms=_rooms(placed),
            )
        )


def _reason(
    chosen: SimInstance,
    cost: float,
    next_: SimInstance | None,
    next_cost: float | None,
    considered: int,
) -> str:
    field = f"{considered} candidate" + ("s" if considered != 1 else "")
    if next_ is None or next_cost is None:
        return f"{chosen.id} had the least cost, {cost:g}, among {field}."
    if next_cost == cost:
        return f"{chosen.id} shared the least cost, {cost:g}, among {field} and was due next."
    return (
        f"{chosen.id} had the least cost, {cost:g}, among {field}; {next_.id} came next with "
        f"{next_cost:g}."
    )


def _rooms(placed: Placed) -> list[RoomRow]:
    def at(moment_s: float) -> float:
        return round(1000 * (moment_s - placed.came_s), 3)

    if placed.path is None:
        doors = [("place", 0.0, at(placed.sent_s))]
    else:
        prepared = at(placed.prepared_s)
        doors = [
            ("place", 0.0, min(0.2, prepared)),
            ("prepare queue", min(0.2, prepared), 0.3 * prepared),
            ("prepare", 0.3 * prepared, prepared),
            ("ready queue", prepared, at(placed.sent_s)),
        ]
    doors += [
        ("prefill", at(placed.sent_s), at(placed.first_s)),
        ("decode", at(placed.first_s), at(placed.ends_s)),
    ]
    predicted = placed.predicted_ttft_ms
    return [
        RoomRow(
            room=name,
            start_ms=start_ms,
            end_ms=max(start_ms, end_ms),
            predicted_ms=predicted if name == "prefill" else None,
        )
        for name, start_ms, end_ms in doors
    ]
