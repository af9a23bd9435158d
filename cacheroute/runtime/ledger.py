"""Every change is written down twice: in the log, and in a file of its own that is kept longer."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

from cacheroute.core.errors import CacheRouteError

if TYPE_CHECKING:
    from cacheroute.core.changes import Verb, Who
    from cacheroute.core.clock import Clock

log = logging.getLogger("cacheroute.admin")


class Audit(Protocol):
    """A place for lines that stay."""

    def add(self, line: Mapping[str, object]) -> None:
        """Write one line; raises an error of ours when it cannot be."""
        ...


class Ledger:
    """Writes changes down; what cannot be written holds nobody up, and the log says so."""

    def __init__(self, audit: Audit, clock: Clock) -> None:
        self._audit = audit
        self._clock = clock

    def note(
        self,
        verb: Verb,
        who: Who,
        *,
        instance_id: str | None,
        before: object,
        after: object,
        inflight: int,
    ) -> None:
        """Write down who has changed what, how it was, and how it is."""
        log.info(
            "admin.%s instance_id=%s change=%r inflight=%d peer=%s user=%r token=%s",
            verb, instance_id, _difference(before, after), inflight, who.peer, who.user, who.token,
        )  # fmt: skip
        line = {
            "at": self._clock.now().wall_s,
            "verb": verb,
            "instance_id": instance_id,
            "before": before,
            "after": after,
            "inflight": inflight,
            **asdict(who),
        }
        try:
            self._audit.add(line)
        except CacheRouteError as error:
            log.warning("audit.not_written reason=%s", error.message)


def _difference(before: object, after: object) -> str:
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        return f"{before} > {after}"
    return ", ".join(
        f"{key} {value} > {after[key]}" for key, value in before.items() if value != after[key]
    )
