"""The sections of the tree, one class each; the text under a field is its documentation.

Leaf rules that the core already owns (limits, timeouts, weights, liveness) are used as they
are, so a default exists once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    NonNegativeFloat,
    NonNegativeInt,
    SecretStr,
)

from cacheroute.core.health.rules import EjectionRules
from cacheroute.core.routing.registry import find, known_names
from cacheroute.core.routing.weights import Weights
from cacheroute.core.rules import PoolRules
from cacheroute.formats.address import Address, is_loopback, is_unspecified
from cacheroute.settings.constraints import (
    Count,
    Host,
    Name,
    Port,
    ReachableHost,
    ReachablePort,
    Seconds,
    UrlPath,
    WebOrigin,
    header_secret,
)
from cacheroute.settings.instances import StaticUrl

OWN_PATHS = frozenset(
    ("/v1/chat/completions", "/v1/completions", "/v1/models", "/health", "/healthz", "/ready"),
)
"""Paths of the service plane that the Proxy answers itself, so no list can pass them through."""


def _strategy(text: str) -> str:
    row = find(text)
    if row is None:
        raise ValueError(f"no strategy is called {text[:64]!r}; there are {known_names()}")
    return row.name


def _passed_through(path: str) -> str:
    if path in OWN_PATHS:
        raise ValueError(f"{path} is answered by the Proxy itself")
    return path


def _request_log(given: object) -> object:
    return "off" if given is False else given


def _token(given: object) -> object:
    return SecretStr(header_secret(given)) if isinstance(given, str) else given


class Section(BaseModel):
    """What all sections share: frozen, nothing unknown, no NaN, no input in error texts."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True
    )


class ProxySettings(Section):
    """The service plane and who this Proxy is."""

    id: Name | None = None
    """Name of this Proxy; `hp_` and the advertised address where none is given."""
    host: Host = "127.0.0.1"
    """Address the service plane binds; loopback by default, `0.0.0.0` or `::` for all."""
    port: Port = 8001
    """Port of the service plane; 0 takes any free one."""
    advertise_host: ReachableHost | None = None
    """Host that others are told; `host` where it is one address, else 127.0.0.1."""
    advertise_port: ReachablePort | None = None
    """Port that others are told; the bound one where none is given."""
    passthrough_paths: tuple[Annotated[UrlPath, AfterValidator(_passed_through)], ...] = (
        "/v1/embeddings",
        "/v1/responses",
        "/v1/messages",
        "/v1/rerank",
        "/v2/rerank",
        "/rerank",
        "/score",
        "/v1/score",
        "/pooling",
        "/classify",
        "/v1/audio/transcriptions",
        "/v1/audio/translations",
        "/tokenize",
        "/detokenize",
    )
    """Other inference paths that are forwarded as they are, with their load counted."""
    cors_origins: tuple[WebOrigin, ...] = ()
    """Web pages whose scripts may call the service plane; none by default, `*` is any."""
    max_capacity: Count = 8
    """Requests at once that count as a full pool in the reported load ratio; limits nothing."""
    shutdown_grace_s: NonNegativeFloat = 30.0
    """Time that running answers get to end when the Proxy stops, in seconds."""
    forward_authorization: bool = True
    """Whether the client's Authorization goes on to Instances that have no key of their own."""
    request_log: Annotated[str, BeforeValidator(_request_log)] | None = None
    """File of the request log, `off` for none; by default `requests.jsonl` in the state folder."""
    request_log_bytes: Count = 64 * 1024 * 1024
    """Size at which the request log is rotated, in bytes."""
    request_log_keep: NonNegativeInt = 4
    """Rotated request logs that are kept."""

    @property
    def advertised_host(self) -> str:
        """The host that others are told, never one that means all interfaces."""
        if self.advertise_host is not None:
            return self.advertise_host
        return "127.0.0.1" if is_unspecified(self.host) else self.host

    def advertised(self, bound_port: int | None = None) -> Address:
        """Return the address others are told; `bound_port` is what port 0 turned into."""
        return Address(self.advertised_host, self.advertise_port or bound_port or self.port)

    def id_at(self, bound_port: int | None = None) -> str:
        """Return the name of this Proxy; `bound_port` is what port 0 turned into."""
        return self.id or f"hp_{self.advertised(bound_port).authority}"


class ControlSettings(Section):
    """The control plane."""

    host: Host = "127.0.0.1"
    """Address the control plane binds; another than loopback needs `token` or `allow_remote`."""
    port: Port = 8002
    """Port of the control plane; 0 takes any free one."""
    token: Annotated[SecretStr, BeforeValidator(_token)] | None = None
    """Bearer token that every call but plain health must carry; without one, nobody is asked."""
    allow_remote: bool = False
    """Whether the control plane may be bound beyond loopback without a token."""
    body_bytes: Count = 1024 * 1024
    """Largest request body, in bytes; more is 413."""
    snapshot_bytes: Count = 64 * 1024
    """Largest resource snapshot of one Instance, in bytes; more is 413."""
    body_timeout_s: Seconds = 30.0
    """Longest time for a client to send a request body, in seconds; longer is 408."""
    connections: Count = 4096
    """Most clients of the control plane at once; one more is answered 503 and closed."""
    max_links: Count = 1000
    """Most topology links one Instance may report; more is 422."""

    @property
    def is_exposed(self) -> bool:
        """Whether other machines can reach the control plane without a token."""
        return self.token is None and not is_loopback(self.host)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings(PoolRules):
    """The Instance pool: its own rules, ejection, probes, and Instances named here."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = {
        "extra": "forbid",
        "allow_inf_nan": False,
        "hide_input_in_errors": True,
    }

    ejection: EjectionRules = field(default_factory=EjectionRules)
    """When an Instance that fails is given a rest."""
    health_check_interval_s: Seconds = 30.0
    """Time between two probes of a static Instance, in seconds."""
    health_timeout_s: Seconds = 5.0
    """Longest wait for the answer to a probe, in seconds."""
    health_endpoint: UrlPath | None = None
    """Path that is probed; where none is given, whatever the Instance is known to answer."""
    instances: tuple[StaticUrl, ...] = ()
    """Static Instances: base URLs, each optionally followed by `,api_key=env:NAME`."""


class StrategySettings(Section):
    """Which Instance gets a request."""

    name: Annotated[str, AfterValidator(_strategy)] = "round_robin"
    """How an Instance is chosen: `round_robin` (`rr`) or `least_load` (`ll`)."""
    weights: Weights = Weights()
    """What each signal counts in `least_load`."""
