"""A question to the control plane from a command: the client's faults, with our exit codes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from cacheroute.client.ask import Ask
from cacheroute.client.control import ControlClient
from cacheroute.client.faults import (
    ControlFault,
    NotUnderstood,
    ReadOnly,
    Refused,
    TimedOut,
    Unreachable,
)
from cacheroute.wire.debug import StatusReply
from cacheroute.wire.instances import InstanceRow
from cacheroute_cli.completing.seen import remember
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import Exit, Fault, detail

T = TypeVar("T")


class ProxyUnreachable(Fault):
    """Nobody answers at the control plane's address."""

    code = "proxy.unreachable"
    exit = Exit.UNREACHABLE


class ProxyTimedOut(Fault):
    """The control plane did not answer in time."""

    code = "proxy.timeout"
    exit = Exit.UNREACHABLE


class ProxyRefused(Fault):
    """The control plane said no."""

    code = "proxy.refused"


class ProxyForbade(Fault):
    """The control plane wants a token, or a better one."""

    code = "proxy.forbidden"
    exit = Exit.NOT_ALLOWED


class WriteRefused(Fault):
    """Nothing was sent: the context is for looking only."""

    code = "write.refused"
    exit = Exit.NOT_ALLOWED


class ProxyNotUnderstood(Fault):
    """What answers is no control plane, or one of another version."""

    code = "proxy.not_understood"
    exit = Exit.NOT_UNDERSTOOD


class _NotingClient(ControlClient):
    """Keeps the names it hears of for the shell to complete, and tells how long answers took."""

    def ask(self, ask: Ask[T]) -> T:
        """Put one question; raises a ControlFault when there is no answer to it."""
        began_s = time.monotonic()
        try:
            return super().ask(ask)
        finally:
            took_ms = (time.monotonic() - began_s) * 1000
            detail(f"{ask.method} {self.base_url}{ask.path} in {took_ms:.0f} ms")

    def status(self) -> StatusReply:
        """`GET /debug/status`."""
        told = super().status()
        remember(self.base_url, proxy_id=told.proxy_id)
        return told

    def instances(self, *, include_dead: bool = False) -> list[InstanceRow]:
        """`GET /v1/instance/list`."""
        rows = super().instances(include_dead=include_dead)
        remember(self.base_url, instances=[row.instance_id for row in rows])
        return rows


@contextmanager
def control_client(
    context: Context, url: str | None = None, *, user: str | None = None
) -> Iterator[ControlClient]:
    """Open a client of the context's Proxy, or of another URL; its faults become ours.

    In a read-only context it sends no change; `user` is noted with those that it does send.
    """
    base = url or context.proxy_url
    with _NotingClient(
        base,
        token=context.token,
        timeout_s=context.timeout_s,
        readonly=context.readonly,
        user=user,
    ) as client:
        try:
            yield client
        except ControlFault as fault:
            raise as_our_fault(fault, base, context) from fault


def _who_else(context: Context) -> str:
    """Say what may be wrong where nobody is."""
    if context.proxy_url_is_default:
        return "'cacheroute ps --all' shows what runs here; --proxy-url names another"
    if context.name is not None:
        return (
            f"the context is {context.name}; 'cacheroute context list' shows the others, and "
            "--proxy-url names another Proxy"
        )
    return "is it running, and is this its control plane?"


def as_our_fault(fault: ControlFault, base: str, context: Context) -> Fault:
    """Turn what the client says into what a command says."""
    match fault:
        case Unreachable():
            return ProxyUnreachable(
                # Another server may have been asked, on the way.
                f"cannot reach the control plane at {base} ({fault.cause})"
                if fault.url.startswith(base)
                else fault.message,
                hint=_who_else(context),
                url=fault.url,
                cause=fault.cause,
            )
        case TimedOut():
            return ProxyTimedOut(
                fault.message, hint="give it more time with --timeout", url=fault.url
            )
        case Refused() if fault.status in (401, 403):
            return ProxyForbade(
                fault.message, hint="put its token into CACHEROUTE_TOKEN", url=fault.url
            )
        case Refused():
            return ProxyRefused(
                fault.message,
                hint="is this the control plane, and not the service plane?",
                url=fault.url,
                status=fault.status,
            )
        case ReadOnly():
            return WriteRefused(
                f"the context {context.name} is read-only, and nothing was sent"
                if context.name
                else "this context is read-only, and nothing was sent",
                hint="add --write to change something all the same",
                url=fault.url,
            )
        case NotUnderstood():
            return ProxyNotUnderstood(
                fault.message, hint="is it a CacheRoute control plane?", url=fault.url
            )
        case _:
            return Fault(fault.message, url=fault.url)
