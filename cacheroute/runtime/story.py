"""What is told of a request at the end of its answer: when, how, and what came of its knowledge.

It outlives the attempts: a request that is tried on another Instance goes on with the same
story, and with the knowledge that was found for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cacheroute.planes.meta import meta
from cacheroute.runtime.trace import Trace

if TYPE_CHECKING:
    from cacheroute.core.injection.knowledge import Classified
    from cacheroute.core.request import RouteRequest


class Story:
    """One request, for its meta."""

    __slots__ = ("_request", "error", "found", "kv_ack", "trace")

    def __init__(self, request: RouteRequest) -> None:
        self._request = request
        self.trace = Trace(request.arrived_mono_s, request.arrived_wall_s)
        self.found: Classified | None = None
        """What the knowledge node had; None when it was not asked, or did not say."""
        self.kv_ack: Mapping[str, object] = {}
        """What came of an injection."""
        self.error: str | None = None
        """What went wrong, although the request went on; the first thing counts."""

    def start_over(self) -> None:
        """It goes to another Instance: of what was before, only what was found is kept."""
        trace = self.trace
        trace.values = {"proxy_recv_ms": trace.values["proxy_recv_ms"]}
        self.kv_ack = {}
        self.error = None

    def fail(self, error: str) -> None:
        """Note what went wrong."""
        if self.error is None:
            self.error = error

    def told(self) -> dict[str, object]:
        """Put the meta together."""
        found, task = self.found, self._request.task
        missing: tuple[str, ...] = ()
        if found is not None:
            missing = found.miss
        elif task is not None and task.has_knowledge:
            missing = task.knowledge_ids  # nobody could say, so nothing was there
        return meta(
            self.trace.values,
            kv_ack=self.kv_ack,
            kv_ready=() if found is None else found.kv_ready,
            text_only=() if found is None else found.text_only,
            missing=missing,
            error=self.error,
        )
