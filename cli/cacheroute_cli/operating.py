"""A change of the Proxy from a command: asked about first, confirmed, made, shown.

The client itself refuses to send a change where the context is read-only; `--write` builds one
that does not, for this command alone.
"""

import getpass
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from cacheroute.client.control import ControlClient
from cacheroute.client.faults import Refused
from cacheroute.console.changes import CHANGES, document_of, effect_in_words, rows_of
from cacheroute.wire.admin import ChangeReply, ChangeRow, DrainBody
from cacheroute_cli.confirming import require_yes
from cacheroute_cli.context import Context
from cacheroute_cli.control import ProxyNotUnderstood, control_client
from cacheroute_cli.diagnostics import Exit, Fault, UsageFault, note
from cacheroute_cli.faults import NoSuchInstance
from cacheroute_cli.looking import print_view
from cacheroute_cli.views import ListView
from cacheroute_cli.waiting import waiting

_LOOK_EACH_S = (0.1, 0.2, 0.4, 0.8, 1.0)
"""Pauses between two looks at what still runs; the last one repeats."""


class ChangeRefused(Fault):
    """The Proxy will not do that."""

    code = "change.refused"


class DrainTimedOut(Fault):
    """Requests still run on what was drained."""

    code = "drain.timeout"
    exit = Exit.WAIT_TIMED_OUT


class Undrained(Fault):
    """Somebody else has let it take requests again."""

    code = "drain.undone"
    exit = Exit.BAD_ANSWER


Ask = Callable[[ControlClient, bool], ChangeReply]
"""Puts a change to the Proxy; the flag is whether it is only asked about."""


@contextmanager
def operator_client(context: Context) -> Iterator[ControlClient]:
    """Open a client for changes; what the Proxy objects to becomes a fault of ours."""
    with control_client(context, user=_who()) as client:
        try:
            yield client
        except Refused as refused:
            fault = _objection(refused)
            if fault is None:
                raise
            raise fault from refused


def change_instances(
    context: Context,
    ask: Ask,
    *,
    yes: bool | None = None,
    wait: bool = False,
    timeout_s: float | None = None,
) -> None:
    """Make a change and show it; `yes` None is a change that needs no confirmation.

    With `wait` it ends when nothing runs there; `timeout_s` None waits as long as it takes.
    """
    waited_s = None
    with operator_client(context) as client:
        if yes is False:
            asked = _asked(ask, client, dry_run=True)
            if any(change.changed for change in asked.changes):
                require_yes(context, effect_in_words(asked))
        reply = _asked(ask, client, dry_run=False)
        if wait:
            began_s = time.monotonic()
            left = wait_until_drained(client, reply, timeout_s=timeout_s)
            waited_s = round(time.monotonic() - began_s, 3)
            reply = reply.model_copy(update={"changes": left})
    rows = rows_of(reply)
    print_view(
        context,
        ListView(
            kind=CHANGES,
            rows=rows,
            total=len(rows),
            columns=None,
            headers=None,
            content=document_of(reply, proxy_url=context.proxy_url, waited_s=waited_s),
            footer=effect_in_words(reply),
        ),
    )
    if not reply.kept:
        note("cacheroute: note: the Proxy could not write this down; it holds until it restarts")


def wait_until_drained(
    client: ControlClient, reply: ChangeReply, *, timeout_s: float | None
) -> list[ChangeRow]:
    """Wait until no request runs on what was drained; returns how each ended.

    Raises DrainTimedOut, or Undrained when somebody takes the drain back meanwhile.
    """
    deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
    before = {change.instance_id: change for change in reply.changes}
    body = DrainBody(instance_ids=list(before), dry_run=True, force=True)
    now = reply
    looks = 0
    if not any(change.inflight for change in reply.changes):
        return reply.changes
    with waiting(f"waiting for {_load(reply)}", lambda: f"{_load(now)} left") as tick:
        while any(change.inflight for change in now.changes):
            pause_s = _LOOK_EACH_S[min(looks, len(_LOOK_EACH_S) - 1)]
            if deadline_s is not None:
                left_s = deadline_s - time.monotonic()
                if left_s <= 0:
                    raise _timed_out(now, timeout_s)
                pause_s = min(pause_s, left_s)
            time.sleep(pause_s)
            looks += 1
            now = client.drain(body)
            tick()
            undone = [c.instance_id for c in now.changes if not c.before.draining]
            if undone:
                raise Undrained(
                    f"{', '.join(undone)} takes requests again: somebody has undrained it"
                )
    # How it was before stands; what runs is as of now.
    return [
        before[change.instance_id].model_copy(
            update={"inflight": change.inflight, "waiting": change.waiting}
        )
        for change in now.changes
    ]


def _asked(ask: Ask, client: ControlClient, *, dry_run: bool) -> ChangeReply:
    try:
        return ask(client, dry_run)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_context=False)[0]
        what, message = first["loc"][0], first["msg"]
        if what == "instance_ids" and isinstance(first["input"], str):
            raise UsageFault(f"no Instance can be called {first['input']!r}") from problem
        raise UsageFault(f"{what}: {message[:1].lower()}{message[1:]}") from problem


def _load(reply: ChangeReply) -> str:
    count = sum(change.inflight for change in reply.changes)
    return "1 request" if count == 1 else f"{count} requests"


def _timed_out(now: ChangeReply, timeout_s: float | None) -> DrainTimedOut:
    busy = {change.instance_id: change.inflight for change in now.changes if change.inflight}
    told = ", ".join(f"{count} on {instance_id}" for instance_id, count in busy.items())
    return DrainTimedOut(
        f"after {timeout_s:g} s requests still run: {told}",
        hint="it stays drained: wait again, or take it back with 'cacheroute undrain'",
        inflight=busy,
    )


def _objection(refused: Refused) -> Fault | None:
    """Return what an objection of the Proxy is to us; None for what is none."""
    detail = refused.body.partition(": ")[2] or refused.body
    detail = detail[:1].lower() + detail[1:].rstrip(".")
    match refused.code:
        case "unknown_instance":
            return NoSuchInstance(detail, hint="'cacheroute instances --all' lists those there are")
        case "unknown_strategy":
            return UsageFault(detail)
        case "nobody_left":
            return ChangeRefused(detail, hint="add --force to do it all the same")
        case "static_instance" | "too_many_orders":
            return ChangeRefused(detail)
        case "not_found" | None if refused.status == 404:
            return ProxyNotUnderstood(
                f"the Proxy at {refused.url} knows no such change",
                hint="it is of another version: update it",
            )
        case _:
            return None


def _who() -> str:
    try:
        return f"{getpass.getuser()}@{os.uname().nodename}"
    except (OSError, KeyError):
        return f"uid{os.getuid()}@{os.uname().nodename}"
