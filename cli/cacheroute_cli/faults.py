"""Faults that several commands have: what was named is not there."""

from collections.abc import Sequence
from difflib import get_close_matches

from cacheroute_cli.diagnostics import Exit, Fault


class NoSuchInstance(Fault):
    """The pool has no Instance of this name."""

    code = "instance.unknown"
    exit = Exit.NOT_FOUND


def no_such_instance(instance_id: str, known: Sequence[str]) -> NoSuchInstance:
    """Return the fault, with the names that come nearest."""
    near = get_close_matches(instance_id, known, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else (
        "'cacheroute instances --all' lists those there are"
    )  # fmt: skip
    return NoSuchInstance(
        f"there is no Instance {instance_id!r} among {len(known)}", hint=hint, id=instance_id
    )


class NoSuchProxy(Fault):
    """The Scheduler knows no Proxy of this name."""

    code = "proxy.unknown"
    exit = Exit.NOT_FOUND


def no_such_proxy(proxy_id: str, scheduler_url: str, known: Sequence[str]) -> NoSuchProxy:
    """Return the fault, with what the Scheduler knows instead."""
    near = get_close_matches(proxy_id, known, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else (
        "'cacheroute scheduler --all' lists those it knows"
    )  # fmt: skip
    return NoSuchProxy(
        f"the Scheduler at {scheduler_url} knows no Proxy {proxy_id!r} among {len(known)}",
        hint=hint,
        id=proxy_id,
    )
