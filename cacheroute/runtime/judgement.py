"""What an answer means for the request and for the Instance: one table.

| Answer                            | Next Instance?     | Instance                      |
|-----------------------------------|--------------------|-------------------------------|
| 2xx, 3xx                          | no                 | good                          |
| error as first event of a 200     | by the status in it| by the status in it           |
| 429, 503                          | if one is free     | asks for a pause, no fault    |
| 408, other 5xx                    | yes                | fault                         |
| other 4xx                         | no                 | says nothing                  |
"""

from collections.abc import Callable
from dataclasses import dataclass

from cacheroute.core.health.retry_after import parse_retry_after
from cacheroute.upstream.answer import StreamWatch
from cacheroute.upstream.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to make of an answer."""

    outcome: str
    """`ok`, or the cause of the failure."""
    try_another: bool = False
    """Whether another Instance should be asked, if there is one."""
    is_fault: bool = False
    """Whether it counts against the Instance."""
    is_pressure: bool = False
    """Whether the Instance asks to be left alone."""
    wait_s: float | None = None
    """For how long, where it says so."""


OK = Verdict("ok")
_CLIENT_ERROR = Verdict("client_error")
_FAULT = Verdict("upstream_status", try_another=True, is_fault=True)
_BROKEN_STREAM = Verdict("error_event", is_fault=True)


def judge(exchange: Exchange, wall_s: Callable[[], float]) -> Verdict:
    """Judge an answer by its status, and a stream by the errors in it."""
    status = exchange.status
    watch = exchange.watch
    if status < 400 and watch.error is None:
        return OK
    if status < 400:
        opened_with_error = isinstance(watch, StreamWatch) and watch.opened_with_error
        verdict = _by_status(watch.error_status or 500, None)
        if opened_with_error:
            return Verdict(
                "error_event",
                try_another=verdict.try_another,
                is_fault=verdict.is_fault,
                is_pressure=verdict.is_pressure,
            )
        return _BROKEN_STREAM if verdict.is_fault else Verdict("error_event")
    hint = exchange.field(b"retry-after")
    return _by_status(status, parse_retry_after(hint, wall_s()) if hint else None)


def _by_status(status: int, wait_s: float | None) -> Verdict:
    if status in (429, 503):
        return Verdict("upstream_busy", try_another=True, is_pressure=True, wait_s=wait_s)
    if status == 408 or status >= 500:
        return _FAULT
    return _CLIENT_ERROR
