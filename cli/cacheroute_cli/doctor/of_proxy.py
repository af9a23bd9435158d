"""Whether the Proxy answers, understands us, and has the same idea of what time it is."""

import time
from collections.abc import Iterator, Sequence

from cacheroute import __version__
from cacheroute.client.control import ControlClient
from cacheroute.client.faults import ControlFault
from cacheroute.console.amounts import render_duration
from cacheroute.wire.debug import InstanceLoadsReply
from cacheroute_cli.context import Context
from cacheroute_cli.control import control_client
from cacheroute_cli.diagnostics import Fault
from cacheroute_cli.doctor.check import Check, bad, ok, warn

SKEW_WARN_S = 1.0
SKEW_BAD_S = 30.0
"""The usual time to live: with more, everything seems to be lost or fresh."""


def check_proxy(context: Context, elsewhere: Sequence[str] = ()) -> Iterator[Check]:
    """Ask the Proxy in question; there may be others elsewhere."""
    try:
        with control_client(context) as client:
            told = client.status()
            began_s, began = time.time(), time.monotonic()
            loads = _loads(client)
            took_s = time.monotonic() - began
    except Fault as fault:
        if not context.proxy_url_is_default:
            yield bad("proxy", fault.message, fault.hint)
        # Where nobody has named a Proxy, it may well be that none is meant to run.
        elif elsewhere:
            way_out = f"a stack that is up has one: --proxy-url {elsewhere[0]}"
            yield warn("proxy", fault.message, way_out)
        else:
            yield warn("proxy", fault.message, "'cacheroute up -d' starts one here")
        return
    who = told.proxy_id or "a Proxy"
    yield ok(
        "proxy",
        f"{who} at {context.proxy_url}: {told.alive_instances} of {told.total_instances} "
        "Instances alive",
    )
    yield check_version(told.version)
    if loads is not None:
        yield check_clock(loads.generated_at, began_s + took_s / 2, took_s / 2)


def _loads(client: ControlClient) -> InstanceLoadsReply | None:
    """Ask for the page that tells the Proxy's time; some Proxies have none."""
    try:
        return client.loads()
    except ControlFault:
        return None


def check_version(theirs: str | None) -> Check:
    """Compare the Proxy's version with ours."""
    if theirs is None:
        return warn("version", f"this is {__version__}; the Proxy does not tell its version")
    if theirs != __version__:
        return warn(
            "version",
            f"this is {__version__}, the Proxy is {theirs}: some figures may be missing",
            "install the same version on both",
        )
    return ok("version", f"{__version__}, here and at the Proxy")


def check_clock(theirs_s: float | None, ours_s: float, precision_s: float) -> Check:
    """Compare the Proxy's clock with ours: ages are told against it."""
    if theirs_s is None:
        return warn("clock", "the Proxy does not tell its time")
    skew_s = theirs_s - ours_s
    known = f"within {max(precision_s * 1000, 1):.0f} ms"
    if abs(skew_s) <= max(SKEW_WARN_S, precision_s):
        return ok("clock", f"the Proxy's clock agrees with ours, {known}")
    direction = "ahead of" if skew_s > 0 else "behind"
    sentence = f"the Proxy's clock is {render_duration(abs(skew_s))} {direction} ours"
    verdict = bad if abs(skew_s) > SKEW_BAD_S else warn
    return verdict("clock", sentence, "set both clocks by NTP")
