"""The rules of the queues before each Instance, as a Proxy tells them on every page.

A plain dataclass, which the models of the debug pages and the document of the console both hold.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRules:
    """What is null is not told; `cacheroute.core.dispatch.rules` has the rules in force."""

    prepare_concurrency: int | None = None
    """Most requests that are prepared for one Instance at once."""
    ready_concurrency: int | None = None
    """Most prepared requests on one Instance at once, unless it has a cap of its own."""
    max_queue: int | None = None
    """Most requests that wait at one turnstile of an Instance."""
    wait_at_cap: bool | None = None
    """Whether a plain request waits where every Instance is at its own cap."""
    release_policy: str | None = None
    """`ordered` or `text_bypass`."""
    text_bypass_max_per_flush: int | None = None
    """Most text requests that pass a waiting head at a time, with `text_bypass`."""
