"""A question to the control plane from a command: the client's faults, with our exit codes."""

from collections.abc import Iterator
from contextlib import contextmanager

from cacheroute.client.control import ControlClient
from cacheroute.client.faults import ControlFault, NotUnderstood, Refused, TimedOut, Unreachable
from cacheroute_cli.context import Context
from cacheroute_cli.diagnostics import Exit, Fault


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


class ProxyNotUnderstood(Fault):
    """What answers is no control plane, or one of another version."""

    code = "proxy.not_understood"
    exit = Exit.NOT_UNDERSTOOD


@contextmanager
def control_client(context: Context, url: str | None = None) -> Iterator[ControlClient]:
    """Open a client of the context's Proxy, or of another URL; its faults become ours."""
    base = url or context.proxy_url
    with ControlClient(base, token=context.token, timeout_s=context.timeout_s) as client:
        try:
            yield client
        except ControlFault as fault:
            raise _ours(fault, base, context) from fault


def _ours(fault: ControlFault, base: str, context: Context) -> Fault:
    match fault:
        case Unreachable():
            return ProxyUnreachable(
                f"cannot reach the control plane at {base} ({fault.cause})",
                hint=(
                    "is it running? try 'cacheroute proxy status', or name it with --proxy-url"
                    if context.proxy_url_is_default
                    else "is it running, and is this its control plane?"
                ),
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
        case NotUnderstood():
            return ProxyNotUnderstood(
                fault.message, hint="is it a CacheRoute control plane?", url=fault.url
            )
        case _:
            return Fault(fault.message, url=fault.url)
