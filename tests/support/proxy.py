"""A whole Proxy in this process, composed as in production, on ports of its own."""

import contextlib
import json
import re
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from cacheroute.runtime.compose import App, build
from cacheroute.settings.load import load
from tests.support.client import fetch
from tests.support.waiting import eventually_is

METRICS = {
    "requests": "kronaxis_router_requests_total",
    "errors": "kronaxis_router_errors_total",
    "tokens": "cacheroute_tokens_total",
    "ttft sum": "cacheroute_ttft_seconds_sum",
    "ttft count": "cacheroute_ttft_seconds_count",
}
"""What the tests call a metric, and its name on the metrics page."""

BY_THE_CALLER = frozenset({"client_gone", "client_error", "bad_request"})
"""Causes of an unhappy end that are no failure of an Instance."""

_LABEL = re.compile(r'([a-zA-Z_]+)="((?:[^"\\]|\\.)*)"')

LONG_REST: dict[str, Any] = {
    "pool__ejection__cool_down_s": 60,
    "pool__ejection__cool_down_max_s": 60,
}
"""Settings with which an Instance, once ejected, stays out for as long as a test lasts."""


@dataclass(frozen=True, slots=True, eq=False)
class RunningProxy:
    """A Proxy that listens."""

    app: App

    @property
    def service_port(self) -> int:
        """Where inference requests go."""
        return self.app.service_port

    @property
    def control_port(self) -> int:
        """Where registrations and debug calls go."""
        return self.app.control_port

    @property
    def service_url(self) -> str:
        """Base address of the service plane."""
        return f"http://127.0.0.1:{self.service_port}"

    @property
    def control_url(self) -> str:
        """Base address of the control plane."""
        return f"http://127.0.0.1:{self.control_port}"

    async def control(self, method: str, path: str, body: object = None, status: int = 200) -> Any:
        """Call the control plane, which must answer with this status; returns its JSON."""
        sent = None if body is None else json.dumps(body).encode()
        answer = await fetch(self.control_port, method, path, body=sent)
        assert answer.status == status, f"{path}: {answer.status} {answer.body!r}"
        return answer.json()

    async def register(self, **fields: object) -> Any:
        """Register an Instance, which must work."""
        return await self.control("POST", "/v1/instance/register", fields)

    async def instances(self) -> list[dict[str, Any]]:
        """Return the rows of the Instance list, the dead ones too."""
        rows = await self.control("GET", "/v1/instance/list?include_dead=true")
        assert isinstance(rows, list)
        return rows

    async def loads(self) -> list[dict[str, Any]]:
        """Return the rows of the load view."""
        rows = (await self.control("GET", "/debug/instance_loads"))["instances"]
        assert isinstance(rows, list)
        return rows

    async def inflight(self) -> dict[str, int]:
        """Return how many requests each Instance has on it."""
        return {row["instance_id"]: row["inflight"] for row in await self.loads()}

    async def idle(self, *, within_s: float = 1.0) -> None:
        """Wait until no Instance has a request on it; every counter must end at exactly 0."""
        await eventually_is(self.inflight, lambda load: not any(load.values()), within_s=within_s)

    async def decisions(self) -> list[dict[str, Any]]:
        """Return the newest routing decisions."""
        answer = await self.control("GET", "/debug/decisions")
        rows = answer["decisions"] if isinstance(answer, dict) else answer
        assert isinstance(rows, list)
        return rows

    async def metrics(self) -> str:
        """Return the Prometheus page."""
        answer = await fetch(self.control_port, "GET", "/metrics")
        assert answer.status == 200
        return answer.body.decode()

    async def samples(self, what: str, by: str) -> dict[str, float]:
        """Return the sums of a metric by one of its labels; empty while it has no samples."""
        found: dict[str, float] = {}
        for line in (await self.metrics()).splitlines():
            if line.startswith(METRICS[what] + "{"):
                labels = dict(_LABEL.findall(line))
                found[labels[by]] = found.get(labels[by], 0.0) + float(line.rpartition(" ")[2])
        return found

    async def unhappy_ends(self) -> dict[str, float]:
        """Return how many requests did not end well, by cause."""
        return await self.samples("errors", "cause")

    async def failures(self) -> float:
        """Return how many requests an Instance, or its absence, has spoilt."""
        ends = await self.unhappy_ends()
        return sum(count for cause, count in ends.items() if cause not in BY_THE_CALLER)


def _option(name: str, value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f"{name.replace('__', '.')}={text}"


@contextlib.asynccontextmanager
async def running_proxy(
    *instance_urls: str, strategy: str = "round_robin", **overrides: object
) -> AsyncIterator[RunningProxy]:
    """Run a Proxy before these Instances; `timeouts__connect_s=1` sets `timeouts.connect_s`."""
    with tempfile.TemporaryDirectory() as state_dir:
        options: dict[str, object] = {
            "proxy__port": 0,
            "control__port": 0,
            "state_dir": state_dir,
            "pool__instances": list(instance_urls),
            "strategy__name": strategy,
            **overrides,
        }
        loaded = load(
            config_file=None,
            overrides=[_option(name, value) for name, value in options.items()],
            environ={},
        )
        app = build(loaded.settings)
        await app.start()
        try:
            yield RunningProxy(app)
        finally:
            await app.stop(grace_s=0.2)
