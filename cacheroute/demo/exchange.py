"""One request on its way through the engine, from its prompt to the last byte of its answer.

It holds the client's `Inbound` and the engine's runs, and lets go of both together: when
the answer ends, when the client leaves, or when a fault strikes. Where KV is kept outside,
the prompts go there first, and an answer ends only when its KV has been written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

import xxhash

from cacheroute.core.engine.blocks import chain_keys
from cacheroute.core.engine.engine import Token
from cacheroute.core.engine.run import Run, Sequence
from cacheroute.dataplane.inbound import Inbound
from cacheroute.demo import tokens
from cacheroute.demo.faults import Fault
from cacheroute.demo.kv_loads import KvLoads
from cacheroute.demo.pace import Pacer
from cacheroute.demo.refusal import JSON_HEADERS, Refusal, engine_died
from cacheroute.demo.reply import Choice, Reply
from cacheroute.demo.shapes.shape import Shape

EVENT_STREAM = ((b"content-type", b"text/event-stream; charset=utf-8"),)

_RESET_AFTER_S = 0.01
"""A reset throws away what was not sent yet: the last write gets this long to leave."""


class Observer(Protocol):
    """Whoever counts what the engine does; metrics, as a rule."""

    def on_token(self, run: Run, at_s: float, previous_at_s: float | None) -> None:
        """Take note of one token of a run, and of when the one before it came."""
        ...

    def on_finished(self, run: Run, reason: str) -> None:
        """Take note that a run has ended by itself."""
        ...


class Exchange:
    """A request that is being answered; a `pace.Listener`."""

    def __init__(
        self,
        inbound: Inbound,
        reply: Reply,
        shape: Shape,
        *,
        pacer: Pacer,
        observer: Observer,
        fault: Fault | None,
        on_end: Callable[[Exchange], None],
        outside: KvLoads | None = None,
    ) -> None:
        self._inbound = inbound
        self._reply = reply
        self._shape = shape
        self._pacer = pacer
        self._observer = observer
        self._fault = fault
        self._on_end = on_end
        self._outside = outside
        self._stop_loading: Callable[[], object] | None = None
        self._open_saves = 0
        self._streams = reply.ask.params.stream
        self._due: list[bytes] = []
        self._opened = False
        self._ended = False
        self._open_runs = 0
        self._choices: dict[str, Choice] = {}

    def begin(self, next_sequence: Callable[[], str]) -> None:
        """Submit every prompt of the request, each under an id of the engine's own."""
        self._inbound.on_gone = self._gone
        if self._fault is not None and self._fault.after_tokens == 0:
            self._strike(self._fault)
            return
        reply = self._reply
        ask = reply.ask
        block_bytes = self._pacer.engine.profile.block_tokens * tokens.TOKEN_BYTES
        seed = _salt_seed(ask.params.cache_salt)
        if self._streams:
            # As from vLLM, the head is there long before the first token.
            self._inbound.start(200, EVENT_STREAM)
            self._inbound.write(b"")
        outside = self._outside
        waiting: list[Sequence] = []
        # All at one moment, or a hiccup between two would put them into other steps.
        at_s = self._pacer.now()
        self._open_runs = len(ask.answers) or len(ask.prompts)
        for number in range(self._open_runs):
            choice = reply.choices[number] if ask.answers else None
            prompt = ask.prompts[number // ask.params.choices]
            answer = tokens.encode(choice.answer.text) if choice else b""
            sequence = Sequence(
                id=next_sequence(),
                prompt_tokens=tokens.count(prompt),
                output_tokens=len(choice.answer.pieces) if choice else 0,
                keys=tuple(chain_keys(prompt + answer, block_bytes, seed=seed)),
            )
            if choice is not None:
                self._choices[sequence.id] = choice
            if outside is None:
                reply.runs.append(self._pacer.submit(sequence, self, at_s=at_s))
            else:
                waiting.append(sequence)
        if outside is not None:
            self._stop_loading = outside.load(waiting, self._loaded)

    def _loaded(self, sequences: list[Sequence], at_s: float | None) -> None:
        if self._ended:
            return
        for sequence in sequences:
            self._reply.runs.append(self._pacer.submit(sequence, self, at_s=at_s))

    # From the pacer.

    def on_token(self, token: Token) -> None:
        """Draw one token, or note that a prompt has been read."""
        run = token.run
        choice = self._choices.get(run.sequence.id)
        if choice is not None:
            choice.emitted = token.number
            self._observer.on_token(run, token.at_s, choice.last_token_at_s)
            choice.last_token_at_s = token.at_s
            if self._streams and not self._ended:
                if not self._opened:
                    self._opened = True
                    self._due.append(self._shape.opening())
                self._due.append(self._shape.piece(choice))
        if token.finished:
            self._open_runs -= 1
            self._observer.on_finished(run, choice.answer.finish_reason if choice else "stop")
        if self._outside is not None and self._outside.saves and token.number <= 1:
            self._open_saves += 1
            self._outside.save(run.sequence, self._saved)
        fault = self._fault
        if fault is None or self._ended:
            return
        if self._reply.completion_tokens >= fault.after_tokens or not self._open_runs:
            self._strike(fault)

    def flush(self) -> None:
        """Send what has been drawn, and end the answer if it is complete."""
        if self._ended:
            return
        complete = not self._open_runs and not self._open_saves
        if not self._streams:
            if complete:
                self._inbound.respond(200, JSON_HEADERS, self._shape.whole())
                self._end()
            return
        if complete:
            self._due.append(self._shape.closing())
            self._inbound.finish(b"".join(self._due))
            self._end()
        else:
            self._inbound.write(b"".join(self._due))
            self._due.clear()

    def _saved(self) -> None:
        self._open_saves -= 1
        if not self._open_runs:
            self.flush()

    # Ends that are no end.

    def fail(self, refusal: Refusal) -> None:
        """End with an error: as an event where a stream has begun, else as an answer."""
        if self._ended:
            return
        if self._inbound.begun:
            self._due.append(self._shape.failure(refusal))
            self._inbound.finish(b"".join(self._due))
        else:
            self._inbound.respond(refusal.status, refusal.headers, refusal.body)
        self._end()

    def _strike(self, fault: Fault) -> None:
        if fault.kind == "error_event":
            if self._streams and not self._inbound.begun:
                self._inbound.start(200, EVENT_STREAM)
            self.fail(engine_died())
            return
        # die_mid_stream: all that is due goes out, then the connection is reset.
        if self._streams and self._due:
            self._inbound.write(b"".join(self._due))
        elif not self._streams and fault.after_tokens:
            self._inbound.start(200, JSON_HEADERS)
            whole = self._shape.whole()
            self._inbound.write(whole[: len(whole) // 2])
        self._end()
        asyncio.get_running_loop().call_later(_RESET_AFTER_S, self._inbound.abort)

    def _gone(self) -> None:
        if not self._ended:
            self._end()

    def _end(self) -> None:
        self._ended = True
        self._inbound.on_gone = None
        if self._stop_loading is not None:
            self._stop_loading()
        if self._open_runs:
            for run in self._reply.runs:
                self._pacer.abort(run.sequence.id)
        self._due.clear()
        self._on_end(self)


def _salt_seed(salt: str) -> int:
    return xxhash.xxh3_64_intdigest(salt.encode("utf-8", "surrogatepass")) if salt else 0
