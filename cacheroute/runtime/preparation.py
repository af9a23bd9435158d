"""Rooms 3 to 5: decide how knowledge is brought in, bring it in, and wait for a slot.

| # | Room    | What happens                                        | May leave by                 |
|---|---------|-----------------------------------------------------|------------------------------|
| 3 | Decide  | text or KV, by what is predicted at this moment     | -                            |
| 4 | Prepare | turnstile 1; knowledge is looked up, KV injected    | 429 queue_full               |
| 5 | Ready   | turnstile 2; a slot of the Instance                 | 429 queue_full, 503 draining |

Nothing that goes wrong with knowledge ends a request: it goes on with what there is, and its
meta says so. Predictions are noted and weighed, and never waited for.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Collection
from typing import TYPE_CHECKING

from cacheroute.core.errors import QueueFull, UpstreamError
from cacheroute.core.injection.knowledge import (
    Classified,
    KnowledgeTokens,
    classify,
    count_tokens,
)
from cacheroute.core.injection.prompt import render_body
from cacheroute.core.task import KVCACHE, TEXT
from cacheroute.core.topology import address_of
from cacheroute.runtime.deciding import Decider
from cacheroute.runtime.passage import InstanceLeft, Passage

if TYPE_CHECKING:
    from cacheroute.core.dispatch.links import LinkKey
    from cacheroute.core.injection.rules import InjectionRules
    from cacheroute.core.request import RouteRequest
    from cacheroute.core.task import Task
    from cacheroute.core.topology import Topology
    from cacheroute.runtime.proxy import Placement, Proxy
    from cacheroute.runtime.story import Story
    from cacheroute.upstream.kdn import Ack, Kdns

log = logging.getLogger("cacheroute.knowledge")


class Preparation:
    """Takes requests to the Instances that were chosen for them."""

    def __init__(
        self,
        *,
        proxy: Proxy,
        topology: Topology,
        kdns: Kdns,
        rules: InjectionRules,
        allowed: Collection[str],
    ) -> None:
        self._proxy = proxy
        self._turnstiles = proxy.turnstiles
        self._forecasts = proxy.forecasts
        self._topology = topology
        self._kdns = kdns
        self._decider = Decider(proxy, topology, rules)
        self._any_allowed = "*" in allowed
        self._allowed = frozenset(filter(None, map(address_of, allowed)))

    # Room 3

    def begin(self, request: RouteRequest, placement: Placement, story: Story) -> Passage:
        """Decide, in the turn of the choice: the next request sees what this one will do."""
        member = placement.member
        story.start_over()
        passage = Passage(
            request=request,
            story=story,
            member=member,
            placed_mono_s=placement.placed_mono_s,
            turnstiles=self._turnstiles,
            forecasts=self._forecasts,
            mono_s=self._proxy.mono_s,
        )
        trace = story.trace
        trace.mark("route_select_start_ms", placement.placed_mono_s)
        trace.mark("route_select_end_ms", placement.placed_mono_s)
        trace.mark("proxy_enqueue_ms", placement.placed_mono_s)
        task = request.task
        if task is not None:
            if task.ignored:
                trace.put("ignored_fields", " ".join(task.ignored))
            try:
                if task.has_knowledge:
                    self._decider.decide(task, passage)
                else:
                    self._decider.expect_plain(task, passage)
            except BaseException:
                # Nobody has it yet who could give back what was reserved by then.
                passage.end()
                raise
        return passage

    # Rooms 4 and 5

    async def ready(self, passage: Passage) -> None:
        """Prepare a request and wait until it may be sent.

        Raises QueueFull, Draining, or InstanceLeft when another Instance is needed.
        """
        task, member, trace = passage.task, passage.member, passage.story.trace
        board, mono_s = passage.gate.board, self._proxy.mono_s
        if task is not None and task.has_knowledge:
            trace.mark("prepare_queue_enqueue_ms", mono_s())
            ticket = passage.new_ticket()
            if not board.enqueue(ticket):
                raise self._full(passage, "be prepared")
            self._turnstiles.on_change(member)
            await passage.until_preparing()
            trace.mark("prepare_dequeue_ms", mono_s())
            trace.put("prepare_seq", ticket.prepare_seq)
            await self._prepare(task, passage)
            trace.mark("ready_enqueue_ms", mono_s())
            passage.prepared()
            await passage.until_released()
            trace.put("ready_release_seq", ticket.release_seq)
            trace.put("ready_release_policy", board.rules.release_policy)
            trace.put("ready_release_bypass", int(ticket.bypassed))
            trace.put("ready_release_blocked_seq", ticket.blocked_seq)
        elif member.instance.max_concurrent is not None:
            now_mono_s = mono_s()
            if task is not None:
                self._mark_nothing_to_prepare(passage, now_mono_s)
            ticket = passage.new_ticket()
            if not board.enter(ticket):
                raise self._full(passage, "be sent")
            self._turnstiles.on_change(member)
            await passage.until_released()
        elif task is not None:
            self._mark_nothing_to_prepare(passage, mono_s())
        if self._proxy.is_gone(member):
            raise InstanceLeft
        now_mono_s = mono_s()
        for name in (
            "ready_dequeue_ms", "forward_wait_start_ms", "forward_wait_end_ms", "forward_start_ms",
        ):  # fmt: skip
            trace.mark(name, now_mono_s)
        passage.reserve()

    def _mark_nothing_to_prepare(self, passage: Passage, now_mono_s: float) -> None:
        for name in (
            "prepare_queue_enqueue_ms", "prepare_dequeue_ms", "prepare_start_ms",
            "ready_enqueue_ms",
        ):  # fmt: skip
            passage.story.trace.mark(name, now_mono_s)

    def _full(self, passage: Passage, what: str) -> QueueFull:
        board = passage.gate.board
        waiting = max(board.prepare_queue_depth, board.ready_queue_depth)
        return QueueFull(
            f"{waiting} requests wait to {what} at {passage.member.instance.instance_id}, and no "
            f"more than {board.rules.max_queue} may (queues.max_queue).",
            retry_after_s=board.retry_after_s(self._proxy.mono_s()),
        )

    # Room 4

    async def _prepare(self, task: Task, passage: Passage) -> None:
        trace, mono_s = passage.story.trace, self._proxy.mono_s
        trace.mark("prepare_start_ms", mono_s())
        mode = task.mode if passage.decision is None else passage.decision.mode
        found = await self._found(task, passage)
        if passage.story.found is None:
            is_injected = False
            passage.transferred()
            passage.path = "lookup_failed"
        elif mode == KVCACHE:
            is_injected = await self._inject(task, passage, found)
        else:
            is_injected = False
            passage.transferred()
            self._write_text(task, passage, found, mode)
        if mode in (TEXT, KVCACHE):
            passage.body = render_body(task, found.context, mode)
            tokens = count_tokens(found, task.knowledge_tokens)
        else:
            tokens = KnowledgeTokens(total=0, reusable=0)
        passage.forecast = self._forecasts.service(
            passage.member,
            task,
            mode=KVCACHE if is_injected else TEXT,
            knowledge_tokens=tokens.total,
            reusable_tokens=tokens.reusable if is_injected else 0,
        )
        now_mono_s = mono_s()
        trace.mark("prompt_injected_ms", now_mono_s)
        trace.mark("prepare_self_done_ms", now_mono_s)

    async def _found(self, task: Task, passage: Passage) -> Classified:
        """Return what there is of the knowledge; nothing of it when nobody could say."""
        story, mono_s = passage.story, self._proxy.mono_s
        if story.found is not None:  # found for an Instance that was tried before this one
            for name in ("kdn_fetch_start_ms", "kdn_fetch_end_ms"):
                story.trace.mark(name, mono_s())
            return story.found
        nothing = classify(task.knowledge_ids, (), ())
        address = address_of(task.kdn_address)
        if not task.kdn_address:
            story.found = nothing
            return nothing
        if address is None or not self._may_ask(address):
            story.fail(
                f"prepare_failed: {task.kdn_address[:100]!r} is no knowledge node that this Proxy "
                "may ask; let an Instance report a link to it, or name it in kdn.allow"
            )
            return nothing
        began_mono_s = mono_s()
        key: LinkKey = (passage.member.instance.instance_id, task.kdn_address)
        transfer_ms = self._turnstiles.links.free_in_ms(key, began_mono_s)
        if passage.link is not None:
            transfer_ms = passage.link.wait_ms  # its own transfer is still to come
        story.trace.mark("kdn_fetch_start_ms", began_mono_s)
        try:
            lookup = await self._kdns.lookup(address, task.knowledge_ids)
        except UpstreamError as error:
            self._proxy.nodes.failed(address, error.message, mono_s())
            story.fail(f"prepare_failed: {error.message}")
            story.trace.mark("prepare_error_ms", mono_s())
            log.warning(
                "knowledge.not_found request_id=%s reason=%s",
                passage.request.request_id,
                error.for_operator,
            )
            return nothing
        finally:
            story.trace.mark("kdn_fetch_end_ms", mono_s())
        self._proxy.nodes.answered(address, mono_s())
        terms = None if passage.decision is None else passage.decision.terms
        if terms is not None:
            waited_ms = (mono_s() - began_mono_s) * 1000 - terms.lookup_ms
            self._forecasts.saw_lookup(task.kdn_address, waited_ms, transfer_ms)
        story.found = classify(task.knowledge_ids, lookup.items, lookup.missing)
        return story.found

    def _may_ask(self, address: str) -> bool:
        return (
            self._any_allowed
            or address in self._allowed
            or address in self._topology.known_addresses()
        )

    def _write_text(self, task: Task, passage: Passage, found: Classified, mode: str) -> None:
        story, mono_s = passage.story, self._proxy.mono_s
        if mode != TEXT:
            story.fail(
                f"prepare_failed: Service.Injection_type is {task.mode!r}, neither 'text' nor "
                "'kvcache'; the request goes on without knowledge"
            )
            passage.path = "unknown_injection_type"
            return
        story.trace.mark("text_prefill_build_start_ms", mono_s())
        story.trace.mark("text_prefill_build_end_ms", mono_s())
        passage.path = "text_inject" if found.context else "no_knowledge_found"
        story.trace.put("text_actual_path", passage.path)

    async def _inject(self, task: Task, passage: Passage, found: Classified) -> bool:
        """Bring KV to the Instance; True when what stands first in the prompt has it there."""
        story, mono_s = passage.story, self._proxy.mono_s
        trace = story.trace
        try:
            if not found.prefix_kids:
                passage.path = "no_kv_ready_fallback_text"
                if task.kdn_address:
                    story.kv_ack = _no_ack(found, ok=True, detail="no kv_ready_kids")
                trace.put("kvcache_actual_path", passage.path)
                return False
            began_mono_s = mono_s()
            for name in ("kv_inject_queue_enqueue_ms", "kv_inject_start_ms", "kv_ack_start_ms"):
                trace.mark(name, began_mono_s)
            try:
                ack = await self._kdns.inject(
                    passage.member.instance,
                    request_id=_whole_number(task.request_id),
                    kdn_address=task.kdn_address,
                    model=task.model,
                    # In lower case, as nodes name what they keep, however it was asked for.
                    knowledge_ids=[kid.strip().lower() for kid in found.prefix_kids],
                )
            except UpstreamError as error:
                error.rename_peer(passage.member.instance.instance_id)
                passage.path = "kv_inject_failed_fallback_text"
                story.kv_ack = _no_ack(found, ok=False, detail=error.message)
                trace.put("kvcache_actual_path", passage.path)
                log.warning(
                    "knowledge.not_injected request_id=%s instance_id=%s reason=%s",
                    passage.request.request_id,
                    passage.member.instance.instance_id,
                    error.for_operator,
                )
                return False
            finally:
                for name in ("kv_ack_end_ms", "kv_inject_end_ms"):
                    trace.mark(name, mono_s())
            story.kv_ack = ack.reply
            # `ok` is true even if nothing was injected.
            injected = {kid.strip().lower() for kid in ack.injected}
            is_injected = found.prefix_kids[0].strip().lower() in injected
            passage.path = "kv_inject" if is_injected else "kv_inject_failed_fallback_text"
            trace.put("kvcache_actual_path", passage.path)
            if is_injected:
                self._learn_transfer(passage, ack, (mono_s() - began_mono_s) * 1000)
            return is_injected
        finally:
            passage.transferred()

    def _learn_transfer(self, passage: Passage, ack: Ack, took_ms: float) -> None:
        link, decision = passage.link, passage.decision
        terms = None if decision is None else decision.terms
        if link is None or terms is None or terms.kv_transfer_ms <= 0:
            return
        actual_ms = ack.transfer_ms
        if actual_ms is None and link.wait_ms == 0:
            actual_ms = took_ms
        if actual_ms is not None:
            self._forecasts.saw_transfer(passage.member, terms.kv_transfer_model_ms, actual_ms)


def _no_ack(found: Classified, *, ok: bool, detail: str) -> dict[str, object]:
    return {
        "ok": ok,
        "injected_kids": [],
        "text_only_kids": list(found.text_kids),
        "miss_kids": list(found.miss),
        "keys_injected": 0,
        "detail": detail,
    }


def _whole_number(request_id: int | str) -> int:
    """Return the number that an Instance wants; an id of another kind has one of its own."""
    if isinstance(request_id, int):
        return request_id
    text = request_id.strip()
    if text.isascii() and text.isdigit():
        return int(text)
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
