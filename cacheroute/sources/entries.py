"""The lines of a recording: looks, what was decided and done in between, and gaps.

A part stands alone: its first look says who the Instances are, and later ones leave it out for
as long as they stay the same.
"""

from typing import Literal

import msgspec

from cacheroute.wire.console import ConsoleSnapshot

LINE_LIMIT_BYTES = 64 * 1024 * 1024


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line."""

    at: float
    """Seconds since the epoch, by the recorder's clock."""
    kind: Literal["look", "same", "gap"]
    """A look; the look before, seen later; or a look that failed."""
    look: ConsoleSnapshot | None = None
    passed_s: float = 0.0
    """Of `same`: how much later than the document."""
    why: str | None = None
    """Of a gap."""
    decisions: list[msgspec.Raw] = []
    """Those since the look before, newest first, as the Proxy tells them."""
    traces: list[msgspec.Raw] = []
    topology: list[msgspec.Raw] = []
    """The links as the Proxy tells them; now and then, and at most once a line."""


_READ = msgspec.json.Decoder(Entry)


def read_entry(line: bytes) -> Entry | None:
    """Read a line; None for one that means nothing to this version."""
    if len(line) > LINE_LIMIT_BYTES:
        return None
    try:
        return _READ.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return None


def with_identities(look: ConsoleSnapshot, before: ConsoleSnapshot | None) -> ConsoleSnapshot:
    """Fill in who the Instances are from the look before, where it is left out."""
    if look.identities is not None or before is None or before.who != look.who:
        return look
    return msgspec.structs.replace(look, identities=before.identities)
