"""What one request holds while it runs, given back exactly once.

Release never depends on a generator's `finally`: one that was never started does not run
it. Whoever ends the request says how it went, and everything is settled in that call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cacheroute.runtime.request_log import RequestRecord

if TYPE_CHECKING:
    from cacheroute.core.pool_member import Member
    from cacheroute.core.request import RouteRequest
    from cacheroute.dataplane.inbound import Inbound
    from cacheroute.runtime.passage import Passage
    from cacheroute.runtime.proxy import Placement, Proxy
    from cacheroute.runtime.request_log import RequestLog
    from cacheroute.runtime.story import Story
    from cacheroute.upstream.exchange import Exchange

_FOLLOWS_S = 10.0
"""Of a stuck Instance each client gives up, and the next one comes."""


class Held:
    """One request's place, exchange and story so far."""

    __slots__ = (
        "_inbound", "_log", "_proxy", "_request", "attempts", "exchange", "is_awaiting",
        "is_judged", "is_settled", "passage", "placement", "story", "tried",
    )  # fmt: skip

    def __init__(
        self, proxy: Proxy, request_log: RequestLog, request: RouteRequest, inbound: Inbound
    ) -> None:
        self._proxy = proxy
        self._log = request_log
        self._request = request
        self._inbound = inbound
        self.is_settled = False
        self.is_awaiting = False
        """Whether it was sent, and nothing of its answer has come."""
        self.is_judged = False
        """Whether the answer at hand has been counted against its Instance already."""
        self.placement: Placement | None = None
        self.exchange: Exchange | None = None
        self.passage: Passage | None = None
        """What it holds before and on its Instance; None for one that passes nothing."""
        self.story: Story | None = None
        """What will be told of it at the end of its answer; None if nothing."""
        self.attempts = 0
        self.tried: tuple[Member, ...] = ()
        """Instances that this request has failed on."""

    def hold(self, placement: Placement) -> None:
        """Hold a place before anything is done with it that may fail."""
        self.placement = placement
        self.exchange = None

    def wait(self, passage: Passage) -> None:
        """Hold what a request has before an Instance that is still to be waited for."""
        self.passage = passage
        passage.tried = self.tried

    def take(self, placement: Placement, exchange: Exchange) -> None:
        """Hold a place and the exchange that runs on it."""
        self.placement = placement
        self.exchange = exchange
        self.is_judged = False
        self.attempts += 1
        self._await(placement)
        if self._request.stream:
            exchange.on_first_token = self._first_token

    def let_go(self) -> None:
        """Give up the Instance that is held, to try another one."""
        placement, exchange = self.placement, self.exchange
        if exchange is not None:
            exchange.abandon()
        self._end_passage()
        # An answer that is given up once it has opened is an error, but an answer.
        is_answered = exchange is not None and exchange.opened
        self._await_no_more(self._proxy.mono_s(), is_answered=is_answered)
        if placement is not None:
            self.tried = (*self.tried, placement.member)
            self._proxy.release(placement)

    def _await(self, placement: Placement) -> None:
        """Note that it was sent; one that follows soon on one that was given up waits on."""
        member, passage = placement.member, self.passage
        if not member.awaiting:
            sent_mono_s = placement.placed_mono_s
            if passage is not None and passage.forwarded_mono_s is not None:
                sent_mono_s = passage.forwarded_mono_s
            is_new = sent_mono_s - member.given_up_mono_s > _FOLLOWS_S
            if is_new or member.unanswered_since_mono_s is None:
                member.unanswered_since_mono_s = sent_mono_s
        member.awaiting += 1
        self.is_awaiting = True

    def _await_no_more(self, at_mono_s: float, *, is_answered: bool) -> None:
        """Its Instance has begun or ended its answer, or it was given up."""
        if self.placement is None or not self.is_awaiting:
            return
        self.is_awaiting = False
        member = self.placement.member
        member.awaiting -= 1
        if is_answered:
            member.unanswered_since_mono_s = at_mono_s if member.awaiting else None
        else:
            member.given_up_mono_s = at_mono_s

    def _first_token(self, at_mono_s: float) -> None:
        self._await_no_more(at_mono_s, is_answered=True)
        placement = self.placement
        if placement is not None:
            ttft_s = at_mono_s - self._request.arrived_mono_s
            self._proxy.strategy.on_first_token(placement.member, ttft_s)
        if self.passage is not None:
            error_ratio = self.passage.first_token(at_mono_s)
            if error_ratio is not None and placement is not None:
                self._proxy.tally(placement.member).prediction_error.observe(error_ratio)

    def _end_passage(self) -> None:
        passage, self.passage = self.passage, None
        if passage is not None:
            passage.end()
            self._proxy.through_with(passage.member)

    def settle(self, outcome: str, error: str | None = None, status: int | None = None) -> None:
        """Give everything back, and write down how it went; a second call does nothing.

        `outcome` is `ok` or the cause of the failure; `status` is what the client is about
        to be sent, where the answer has not begun.
        """
        if self.is_settled:
            return
        self.is_settled = True
        proxy, request, exchange = self._proxy, self._request, self.exchange
        placement = self.placement
        member = None
        if placement is not None:
            member = placement.member
            proxy.release(placement)
        if exchange is not None and not exchange.ended:
            exchange.abandon()
        if self.passage is not None:
            self.passage.end()
        now_mono_s = proxy.mono_s()
        is_error = exchange is not None and exchange.opened and exchange.status >= 400
        self._await_no_more(now_mono_s, is_answered=outcome == "ok" or is_error)
        e2e_s = now_mono_s - request.arrived_mono_s
        tally = proxy.tally(member)
        tally.requests += 1
        tally.duration_ms.observe(e2e_s * 1000)
        if outcome != "ok":
            tally.fail(outcome)
        sent_s = ttft_s = usage = None
        if placement is not None:
            passage = self.passage
            sent_mono_s = placement.placed_mono_s
            if passage is not None and passage.forwarded_mono_s is not None:
                sent_mono_s = passage.forwarded_mono_s
            sent_s = sent_mono_s - request.arrived_mono_s
            tally.queue_wait_s.observe(sent_s)
        if exchange is not None:
            watch = exchange.watch
            usage = watch.usage
            if watch.first_token_s is not None:
                ttft_s = watch.first_token_s - request.arrived_mono_s
                tally.ttft_s.observe(ttft_s)
                if usage is not None and usage.completion_tokens and usage.completion_tokens > 1:
                    decoding_s = now_mono_s - watch.first_token_s
                    tally.tpot_s.observe(decoding_s / (usage.completion_tokens - 1))
            if usage is not None:
                tally.prompt_tokens += usage.prompt_tokens or 0
                tally.completion_tokens += usage.completion_tokens or 0
                tally.cached_tokens += usage.cached_tokens or 0
                if self.passage is not None and usage.completion_tokens and outcome == "ok":
                    decode_ms = None
                    if watch.first_token_s is not None:
                        decode_ms = (now_mono_s - watch.first_token_s) * 1000
                    self.passage.answered(usage.completion_tokens, decode_ms)
        if self.passage is not None and self.passage.path is not None:
            path = self.passage.path
            tally.paths[path] = tally.paths.get(path, 0) + 1
        if self.passage is not None:
            proxy.through_with(self.passage.member)
        inbound = self._inbound
        bytes_out = inbound.bytes_out
        if exchange is not None and exchange.ended and inbound.begun and not inbound.bodiless:
            bytes_out += exchange.unsent_bytes
        record = RequestRecord(
            request.arrived_wall_s,
            request.request_id,
            request.endpoint,
            request.model,
            request.stream,
            request.caller,
            None if member is None else member.instance.instance_id,
            self.attempts,
            inbound.status or status,
            outcome,
            None if ttft_s is None else round(ttft_s * 1000, 3),
            round(e2e_s * 1_000_000) / 1000,  # a third of the price of rounding to three places
            None if usage is None else usage.prompt_tokens,
            None if usage is None else usage.completion_tokens,
            None if usage is None else usage.cached_tokens,
            len(request.body),
            bytes_out,
            error,
            None if self.passage is None else self.passage.as_record(),
        )
        self._log.add(record)
        if self.story is None:
            proxy.traces.add(record, sent_s)
        else:
            proxy.traces.add_story(record, sent_s, self.story)
