"""Draws a whole reply without an engine: every token comes at once."""

import json
from typing import Any

from cacheroute.demo.params import Body, ServedModel
from cacheroute.demo.reply import Reply
from cacheroute.demo.shapes.shape import DrawShape, ReadAsk

MODEL = ServedModel(name="tiny", max_model_tokens=8192, created_at_s=0)


def make(read: ReadAsk, body: Body, reply_id: str = "chatcmpl-1") -> Reply:
    return Reply(read(body, MODEL), reply_id=reply_id, model="tiny", created_at_s=1796010190)


def whole(read: ReadAsk, draw: DrawShape, body: Body) -> dict[str, Any]:
    """Return the body of the answer when all of it is there."""
    reply = make(read, body)
    for choice in reply.choices:
        choice.emitted = len(choice.answer.pieces)
    value: dict[str, Any] = json.loads(draw(reply).whole())
    return value


def stream(read: ReadAsk, draw: DrawShape, body: Body) -> list[bytes]:
    """Return the events of the answer, one after another."""
    reply = make(read, body)
    shape = draw(reply)
    out = [shape.opening()]
    for choice in reply.choices:
        while not choice.finished:
            choice.emitted += 1
            out.append(shape.piece(choice))
    out.append(shape.closing())
    return [event + b"\n\n" for event in b"".join(out).split(b"\n\n") if event]


def named(events: list[bytes]) -> list[tuple[str, dict[str, Any]]]:
    """Return the name and the data of named events."""
    found = []
    for event in events:
        name, data = event.decode().strip().split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found
