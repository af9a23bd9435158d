"""A request as routing sees it: the few fields we read, and the bytes we leave alone."""

from dataclasses import dataclass
from typing import Literal

from cacheroute.core.task import Task

Caller = Literal["native", "scheduler"]
"""Who is asking: a plain OpenAI client, or a Scheduler that forwards for one."""


@dataclass(slots=True)
class RouteRequest:
    """One request on its way through the rooms.

    Not frozen: a frozen value of this size costs as much to make as the whole selection.
    Nobody changes it once the Door has filled it in.
    """

    request_id: str
    """The caller's own id if it was fit to use, otherwise ours."""
    endpoint: str
    """What is asked for, as Instances list it: `chat/completions`."""
    path: str
    """Where it goes on the Instance: `/v1/chat/completions`."""
    query: bytes
    """The query string, without the question mark."""
    method: str
    model: str | None
    """The model asked for; None when the body names none."""
    stream: bool
    """Whether the caller asked for a stream."""
    caller: Caller
    body: bytes
    """What is forwarded: the caller's own bytes, or what a Scheduler's Request stands for."""
    arrived_mono_s: float
    arrived_wall_s: float
    task: Task | None = None
    """What a Scheduler wants done; None for a plain client."""
