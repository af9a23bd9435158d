"""One request on its way through rooms 3 to 5, to one Instance: what it holds there.

A ticket at the turnstiles, a place among those that are coming, a transfer on a link, a
reservation on the timeline. Whatever happens, `end` gives all of it back, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.errors import Draining
from cacheroute.core.injection.paths import KV_INJECT
from cacheroute.dataplane.turns import Signal
from cacheroute.runtime.request_log import KnowledgeRecord
from cacheroute.runtime.turnstiles import wake

if TYPE_CHECKING:
    from collections.abc import Callable

    from cacheroute.core.dispatch.links import LinkReservation
    from cacheroute.core.dispatch.reservation import Reservation
    from cacheroute.core.dispatch.ticket import Stage
    from cacheroute.core.dispatch.upcoming import Coming
    from cacheroute.core.injection.decision import InjectionDecision
    from cacheroute.core.pool_member import Member
    from cacheroute.core.predict.service import ServiceForecast
    from cacheroute.core.request import RouteRequest
    from cacheroute.core.task import Task
    from cacheroute.runtime.forecasts import Forecasts
    from cacheroute.runtime.story import Story
    from cacheroute.runtime.turnstiles import Gate, Turnstiles

_DRAIN_RETRY_S = 5.0
_BEFORE_RELEASE: tuple[Stage, ...] = ("waiting", "preparing", "ready")


class InstanceLeft(Exception):
    """The Instance went while a request waited for it: it needs another one."""


class Passage:
    """What one request holds before and on one Instance."""

    __slots__ = (
        "_forecasts", "_mono_s", "_signal", "_turnstiles", "body", "coming", "decision", "ended",
        "first_token_mono_s", "forecast", "forwarded_mono_s", "gate", "is_alone", "link", "member",
        "path", "placed_mono_s", "predicted_ttft_ms", "request", "reservation", "story", "ticket",
        "tried",
    )  # fmt: skip

    def __init__(
        self,
        *,
        request: RouteRequest,
        story: Story,
        member: Member,
        placed_mono_s: float,
        turnstiles: Turnstiles,
        forecasts: Forecasts,
        mono_s: Callable[[], float],
    ) -> None:
        self.request = request
        self.story = story
        self.member = member
        self.placed_mono_s = placed_mono_s
        self.gate: Gate = turnstiles.gate(member)
        self._turnstiles = turnstiles
        self._forecasts = forecasts
        self._mono_s = mono_s
        self._signal = Signal()
        self.body: bytes | None = None
        """What the Instance is sent instead of the request's own body."""
        self.decision: InjectionDecision | None = None
        self.path: str | None = None
        """How the knowledge really went: `kv_inject`, `text_inject`, or why neither."""
        self.predicted_ttft_ms: float | None = None
        """From the choice of the Instance to the first token, as predicted then."""
        self.forecast: ServiceForecast | None = None
        """What it will cost the Instance, by what was really put in front of the prompt."""
        self.forwarded_mono_s: float | None = None
        self.first_token_mono_s: float | None = None
        self.is_alone = False
        """Whether nobody else's prompt was at the Instance when it was sent."""
        self.ticket: Ticket | None = None
        self.coming: Coming | None = None
        self.link: LinkReservation | None = None
        self.reservation: Reservation | None = None
        self.tried: tuple[Member, ...] = ()
        """Instances that the request has failed on."""
        self.ended = False

    @property
    def task(self) -> Task | None:
        """What a Scheduler wants; None for a plain client."""
        return self.request.task

    def new_ticket(self) -> Ticket:
        """Make the ticket for the turnstiles."""
        self.ticket = Ticket(self._signal)
        return self.ticket

    async def until_preparing(self) -> None:
        """Wait at turnstile 1; raises InstanceLeft or Draining."""
        await self._while(("waiting",))
        if self.coming is not None:
            self.coming.begins(self._mono_s())

    def prepared(self) -> None:
        """All is brought in that will be: whoever moves on by it is woken."""
        ticket, gate, forecast = self.ticket, self.gate, self.forecast
        if ticket is None:
            return
        ticket.is_text = self.path != KV_INJECT
        if self.coming is not None and forecast is not None:
            passes = gate.upcoming.passes(is_text=ticket.is_text)
            self.coming.prepared(forecast.service_ms, passes=passes)
        wake(gate.board.prepared(ticket))
        self._changed()

    async def until_released(self) -> None:
        """Wait at turnstile 2; raises InstanceLeft or Draining."""
        await self._while(_BEFORE_RELEASE)

    async def _while(self, stages: tuple[Stage, ...]) -> None:
        ticket, gate, turnstiles = self.ticket, self.gate, self._turnstiles
        member, times_silent = self.member, gate.times_silent
        while ticket is not None and ticket.stage in stages:
            if gate.is_closed or turnstiles.is_closing:
                break
            is_unfit = member.draining or gate.times_silent != times_silent
            if is_unfit and turnstiles.has_another(self.request, (*self.tried, member)):
                raise InstanceLeft  # as good as gone, for one that has not been sent to it
            await self._signal
        if turnstiles.is_closing:
            raise Draining(
                "This Proxy is stopping and releases nothing more.", retry_after_s=_DRAIN_RETRY_S
            )
        if gate.is_closed:
            raise InstanceLeft

    # What happens to it on the Instance

    def reserve(self) -> None:
        """It is about to be sent: count its prefill."""
        now_mono_s = self._mono_s()
        self._has_come()
        self.forwarded_mono_s = now_mono_s
        forecast = self.forecast
        if forecast is None:
            return
        timeline = self.gate.board.timeline
        self.is_alone = timeline.wait_ms(now_mono_s) == 0 and timeline.pending_count == 0
        reservation = self.reservation = timeline.reserve(
            now_mono_s,
            forecast.service_ms,
            forecast.decode_ms,
            observable=self.request.stream,
            holds_slot=self.ticket is not None,
            path="kv" if forecast.reused_tokens else "text",
            model_ms=forecast.uncorrected_ms,
            step_ms=self._forecasts.step_ms(self.member),
        )
        self._changed()
        trace = self.story.trace
        trace.mark("pred_forward_start_ts_ms", reservation.prefill_start_s)
        trace.mark("pred_first_token_ts_ms", reservation.first_token_s)
        trace.mark("pred_forward_end_ts_ms", reservation.forward_end_s)
        trace.put_all(
            {
                "predict_stage": "prefill",
                "predict_bs": 1,
                "predict_total_tokens": forecast.total_tokens,
                "predict_length_tokens": forecast.total_tokens,
                "predict_reused_tokens": forecast.reused_tokens,
                "predict_residual_tokens": forecast.residual_tokens,
                "predict_redis_kv_load_ms": forecast.pull_ms,
                "predict_residual_prefill_ms": forecast.prefill_ms,
                "predict_prefill_service_ms": forecast.service_ms,
                "predict_decode_ms": forecast.decode_ms,
                "predict_queue_wait_ms": (reservation.prefill_start_s - now_mono_s) * 1000,
                "predict_vllm_internal_ms": (reservation.first_token_s - now_mono_s) * 1000,
            }
        )

    def first_token(self, at_mono_s: float) -> float | None:
        """Its first token is here; returns how wrong the prediction was, where there was one."""
        self.first_token_mono_s = at_mono_s
        reservation = self.reservation
        if reservation is not None:
            period = self.gate.board.timeline.first_token(reservation, at_mono_s)
            if period is not None:
                self._forecasts.saw_prefills(self.member, period)
            self._changed()
        if self.predicted_ttft_ms is None:
            return None
        actual_ms = (at_mono_s - self.placed_mono_s) * 1000
        return self._forecasts.saw_ttft(self.member, self.predicted_ttft_ms, actual_ms)

    def answered(self, tokens: int, decode_ms: float | None) -> None:
        """Its answer is complete and had so many tokens."""
        forecast = self.forecast
        if forecast is not None:
            self._forecasts.saw_answer(
                self.member,
                tokens=tokens,
                decode_ms=decode_ms,
                model_tpot_ms=self._forecasts.coefficients.decode.tpot_ms(forecast.total_tokens),
            )

    def sum_up(self, first_mono_s: float | None) -> None:
        """Its answer is complete, or will not be: note what was measured beside the predictions."""
        trace = self.story.trace
        now_mono_s = self._mono_s()
        trace.mark("forward_end_ms", now_mono_s)
        prepare_ms = trace.between("proxy_enqueue_ms", "ready_enqueue_ms")
        trace.put("actual_know_prepare_ms", prepare_ms)
        trace.put("actual_prepare_total_ms", prepare_ms)
        trace.put("actual_ready_queue_ms", trace.between("ready_enqueue_ms", "forward_start_ms"))
        trace.put("ttft_observable", int(self.request.stream))
        if first_mono_s is None:
            why = "no_content" if self.request.stream else "answer_in_one_piece"
            trace.put("first_token_missing_reason", why)
            return
        trace.mark("first_token_ms", first_mono_s)
        trace.mark("decode_start_ms", first_mono_s)
        trace.mark("decode_end_ms", now_mono_s)
        internal_ms = trace.between("forward_start_ms", "first_token_ms")
        trace.put("actual_vllm_internal_ms", internal_ms)
        trace.put("actual_compute_ms", internal_ms)
        trace.put("actual_total_ms", trace.between("proxy_enqueue_ms", "first_token_ms"))
        if self.predicted_ttft_ms is not None:
            actual_ms = (first_mono_s - self.placed_mono_s) * 1000
            trace.put("predict_error_ms", actual_ms - self.predicted_ttft_ms)

    def transferred(self) -> None:
        """The transfer is over, has failed, or will not be."""
        link, self.link = self.link, None
        if link is not None:
            self._turnstiles.links.done(link, self._mono_s())

    def end(self) -> None:
        """Give back whatever is held; a second call does nothing."""
        if self.ended:
            return
        self.ended = True
        self._has_come()
        self.transferred()
        board = self.gate.board
        if self.reservation is not None:
            board.timeline.end(self.reservation, self._mono_s())
        if self.ticket is not None:
            wake(board.gone(self.ticket))
        self._changed()

    def as_record(self) -> KnowledgeRecord | None:
        """Return what the request log keeps of it; None for a plain client's request."""
        if self.task is None:
            return None
        reservation, forecast = self.reservation, self.forecast
        first_mono_s = self.first_token_mono_s
        sent_mono_s = self.forwarded_mono_s
        return KnowledgeRecord(
            path=self.path,
            predicted_ttft_ms=_rounded(self.predicted_ttft_ms),
            ttft_ms=_between(self.placed_mono_s, first_mono_s),
            service_ms=_between(sent_mono_s, first_mono_s),
            predicted_service_ms=None if reservation is None else _rounded(reservation.service_ms),
            residual_tokens=None if forecast is None else forecast.residual_tokens,
            reused_tokens=None if forecast is None else forecast.reused_tokens,
            alone=self.is_alone,
        )

    def _has_come(self) -> None:
        coming, self.coming = self.coming, None
        if coming is not None:
            self.gate.upcoming.remove(coming)

    def _changed(self) -> None:
        self._turnstiles.on_change(self.member)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _between(from_mono_s: float | None, to_mono_s: float | None) -> float | None:
    if from_mono_s is None or to_mono_s is None:
        return None
    return round((to_mono_s - from_mono_s) * 1000, 3)
