"""What is said at the end of an answer that is to carry its meta, however it ends.

| Answer                     | Scheduler                          | Native, who asks for it     |
|----------------------------|------------------------------------|-----------------------------|
| stream with its `[DONE]`   | meta, `[DONE]`                     | meta, `[DONE]`              |
| stream that just ends      | meta with an error, `[DONE]`       | meta with an error          |
| stream that breaks off     | error, meta with the same, `[DONE]`| the same, and is cut off    |
| JSON, or plain text        | JSON with the key                  | JSON with the key           |
| 4xx, 5xx, anything else    | as it came                         | as it came                  |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cacheroute.planes import problems
from cacheroute.planes.meta import as_chunk, as_event, form_asked, into_answer
from cacheroute.runtime.story import Story
from cacheroute.wire import headers

if TYPE_CHECKING:
    from cacheroute.core.errors import UpstreamError
    from cacheroute.core.request import RouteRequest
    from cacheroute.dataplane.inbound import Inbound
    from cacheroute.runtime.held import Held
    from cacheroute.runtime.judgement import Verdict
    from cacheroute.upstream.exchange import Exchange

_META = headers.META.lower()
_DONE = b"data: [DONE]\n\n"
_END_IN_DONE = frozenset({"chat/completions", "completions"})
"""Endpoints whose streams are not whole without `[DONE]`; others have an end of their own."""


def story_for(request: RouteRequest, inbound: Inbound) -> Story | None:
    """Return what will be told at the end: for Schedulers, and for whoever asks for it."""
    if request.caller == "scheduler":
        return Story(request)
    asked = inbound.fields.get(_META)
    return None if asked is None or form_asked(asked) is None else Story(request)


def in_json(held: Held, exchange: Exchange) -> bytes:
    """Return the answer that was kept, with what is to be told."""
    answer, story = exchange.take_whole(), held.story
    if story is None:
        return answer
    if not answer.strip():
        story.fail("stream_wrap_failed: the Instance answered 200 with an empty body")
    return into_answer(answer, _told(story, held, exchange))


def end_stream(
    request: RouteRequest, inbound: Inbound, held: Held, exchange: Exchange, verdict: Verdict
) -> None:
    """Add what is to be told to a stream that is complete."""
    story = held.story
    if story is None or not exchange.is_held_open:
        return
    has_mark = exchange.take_mark()
    if verdict.outcome != "ok":
        story.fail(f"stream_wrap_failed: {exchange.watch.error or verdict.outcome}")
    elif not has_mark and request.endpoint in _END_IN_DONE:
        story.fail("stream_wrap_failed: the Instance ended its stream without [DONE]")
    exchange.say_last(_written(request, inbound, _told(story, held, exchange)))
    if has_mark or request.caller == "scheduler":
        exchange.say_last(_DONE)


def of_lost_stream(
    request: RouteRequest, inbound: Inbound, held: Held, exchange: Exchange, error: UpstreamError
) -> bytes:
    """Return what ends a stream that has broken off: the error, and what is to be told."""
    said = exchange.end_event() + problems.error_event(error)
    story = held.story
    if story is not None and exchange.is_held_open:
        story.fail(f"stream_wrap_failed: {error.message}")
        said += _written(request, inbound, _told(story, held, exchange))
    return said + _DONE if request.caller == "scheduler" else said


def _told(story: Story, held: Held, exchange: Exchange) -> dict[str, object]:
    if held.passage is not None:
        held.passage.sum_up(exchange.watch.first_token_s)
    return story.told()


def _written(request: RouteRequest, inbound: Inbound, told: dict[str, object]) -> bytes:
    if form_asked(inbound.fields.get(_META)) == "chunk":
        return as_chunk(told, request.endpoint, request.model)
    return as_event(told)
