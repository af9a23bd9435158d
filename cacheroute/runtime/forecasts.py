"""What this Proxy predicts of its Instances, and what it has learned from being wrong.

One set of coefficients for the fleet, and for each Instance a few factors that follow what is
observed of it. Everything here is worked out when asked and remembered in a few numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cacheroute.core.predict.correction import Corrections
from cacheroute.core.predict.errors import PredictionErrors
from cacheroute.core.predict.prefill import STEP_TOKENS
from cacheroute.core.predict.service import ServiceForecast, predict_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cacheroute.core.dispatch.busy import BusyPeriod
    from cacheroute.core.pool_member import Member
    from cacheroute.core.predict.coefficients import Coefficients
    from cacheroute.core.task import Task

_ANSWER_TOKENS = 128.0
"""How long an answer is taken to be before any was seen."""
_FADING = 0.1
_SURPRISE = 0.5
_TELLING_MS = 20.0
"""A lookup beside a shorter transfer says nothing about waiting for it."""
_NODES_MAX = 256


class Learned:
    """What was learned about one Instance."""

    __slots__ = ("answer_tokens", "corrections", "errors")

    def __init__(self) -> None:
        self.corrections = Corrections()
        """Observed over predicted."""
        self.errors = PredictionErrors()
        """How wrong the predicted times to first token were."""
        self.answer_tokens = _ANSWER_TOKENS
        """How long its answers are, on a mean that fades."""


class Forecasts:
    """Predictions for every Instance."""

    def __init__(self, coefficients: Coefficients, header_tokens: int) -> None:
        self.coefficients = coefficients
        """The speed of the fleet."""
        self.errors = PredictionErrors()
        """How wrong the predicted times to first token were, over all Instances."""
        self._header_tokens = header_tokens
        self._learned: dict[Member, Learned] = {}
        self._lookups: dict[str, float] = {}

    def of(self, member: Member) -> Learned:
        """Return what is known of an Instance."""
        learned = self._learned.get(member)
        if learned is None:
            learned = self._learned[member] = Learned()
        return learned

    def known(self) -> Iterator[tuple[Member, Learned]]:
        """Iterate over the Instances that something is known of."""
        return iter(self._learned.items())

    def forget(self, member: Member) -> None:
        """An Instance has left the pool."""
        self._learned.pop(member, None)

    def service(
        self,
        member: Member,
        task: Task,
        *,
        mode: str,
        knowledge_tokens: int,
        reusable_tokens: int = 0,
    ) -> ServiceForecast:
        """Forecast a request on an Instance, with what is put in front of its prompt."""
        learned = self.of(member)
        answer_tokens = learned.answer_tokens
        if task.max_tokens is not None:
            answer_tokens = min(answer_tokens, task.max_tokens)
        return predict_service(
            prompt_tokens=task.prompt_tokens,
            knowledge_tokens=knowledge_tokens,
            header_tokens=self._header_tokens,
            mode=mode,
            coefficients=self.coefficients,
            reusable_tokens=reusable_tokens,
            factors=learned.corrections.factors,
            output_tokens=max(0, int(answer_tokens) - 1),
        )

    def step_ms(self, member: Member) -> float:
        """Forecast a full step of an Instance: how much of several prompts it reads together."""
        factor = self.of(member).corrections.text_prefill.factor
        return self.coefficients.prefill.predict_ms(STEP_TOKENS) * factor

    # What lookups wait for

    def lookup_share_ratio(self, kdn_address: str) -> float:
        """Return how much of a running transfer a lookup at this node has to wait for, 0 to 1.

        All of it until seen otherwise: the published node does one thing at a time.
        """
        return self._lookups.get(kdn_address, 1.0)

    def saw_lookup(self, kdn_address: str, waited_ms: float, transfer_ms: float) -> None:
        """A lookup took `waited_ms` longer than an idle one, beside a transfer of so long."""
        if transfer_ms < _TELLING_MS:
            return
        before = self._lookups.pop(kdn_address, 1.0)
        seen = min(1.0, max(0.0, waited_ms / transfer_ms))
        self._lookups[kdn_address] = before + _SURPRISE * (seen - before)
        if len(self._lookups) > _NODES_MAX:
            del self._lookups[next(iter(self._lookups))]

    # What is observed

    def saw_prefills(self, member: Member, period: BusyPeriod) -> None:
        """A stretch of prefills is over: each kind in it took as many times longer as all did."""
        corrections = self.of(member).corrections
        for path, predicted_ms in period.predicted_ms.items():
            correction = corrections.kv_prefill if path == "kv" else corrections.text_prefill
            correction.observe(period.model_ms[path], predicted_ms * period.slowness)

    def saw_transfer(self, member: Member, model_ms: float, actual_ms: float) -> None:
        """A transfer is over, by itself on its link."""
        self.of(member).corrections.transfer.observe(model_ms, actual_ms)

    def saw_answer(
        self, member: Member, *, tokens: int, decode_ms: float | None, model_tpot_ms: float
    ) -> None:
        """An answer is complete; `decode_ms` is the time after its first token."""
        learned = self.of(member)
        learned.answer_tokens += _FADING * (tokens - learned.answer_tokens)
        if decode_ms is not None and tokens > 1:
            learned.corrections.decode.observe(model_tpot_ms, decode_ms / (tokens - 1))

    def saw_ttft(self, member: Member, predicted_ms: float, actual_ms: float) -> float | None:
        """A predicted time to first token can be compared; returns how wrong it was."""
        self.of(member).errors.add(predicted_ms, actual_ms)
        return self.errors.add(predicted_ms, actual_ms)
