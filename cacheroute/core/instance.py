"""One model server, as it described itself or as the configuration names it.

An Instance is what somebody said; what this Proxy has seen of it (load, silence, failures)
belongs to the pool's Member. Nothing here changes: a new description is a new Instance.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Origin = Literal["registered", "static"]

Server = tuple[str, int, str]
"""Host, port and base path."""

Address = tuple[str, int, str, str | None]
"""Host, port, base path and model override: what makes two descriptions the same Instance."""

DEFAULT_ID_PREFIX = "hp_"


def authority(host: str, port: int) -> str:
    """Write host and port as a URL wants them: an IPv6 address goes in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def default_instance_id(host: str, port: int, base_path: str = "") -> str:
    """Name an Instance that did not name itself: `hp_<host>:<port>`, as every peer does.

    A base path joins the name, since two servers may share one port behind it.
    """
    return f"{DEFAULT_ID_PREFIX}{authority(host, port)}{base_path}"


def address_in_default_id(instance_id: str) -> tuple[str, int] | None:
    """Read host and port back out of a default id; None when it is a name of another kind."""
    if not instance_id.startswith(DEFAULT_ID_PREFIX):
        return None
    host, _, port = instance_id.removeprefix(DEFAULT_ID_PREFIX).rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not (port.isascii() and port.isdigit() and len(port) <= 5):
        return None
    return (host, int(port)) if 1 <= int(port) <= 65535 else None


def _names(value: object) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset((value,)) if value else frozenset()
    if isinstance(value, (list, tuple)):
        return frozenset(name for name in value if isinstance(name, str) and name)
    return frozenset()


def declared_models(
    capabilities: Mapping[str, object] | None,
    meta: Mapping[str, object],
) -> frozenset[str] | None:
    """Collect the model names an Instance gave itself; None when it named none.

    Taken from `capabilities.model.identifier` with its adapters, and from `model` and
    `models` in meta.
    """
    found = _names(meta.get("model")) | _names(meta.get("models"))
    model = (capabilities or {}).get("model")
    base = _names(model.get("identifier")) if isinstance(model, Mapping) else frozenset()
    adapters = (capabilities or {}).get("adapters")
    if base and isinstance(adapters, (list, tuple)):
        base |= _names([a.get("identifier") for a in adapters if isinstance(a, Mapping)])
    return found | base or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One model server's description."""

    instance_id: str
    """Its name in every view, header and metric."""
    host: str
    """A name, or an address without brackets."""
    port: int
    """TCP port of its data plane, 1..65535."""
    base_path: str = ""
    """What stands before `/v1` in its URLs: empty, or `/base` without a trailing slash."""
    endpoints: tuple[str, ...] = ()
    """What it serves, as `chat/completions`; empty means everything."""
    tags: tuple[str, ...] = ()
    """Free words of its operator."""
    weight: float = 1.0
    """Its share against other Instances; 0 takes no new work."""
    meta: Mapping[str, object] = field(default_factory=dict)
    """Free facts it gave about itself."""
    capabilities: Mapping[str, object] | None = None
    """The capability object with every key, nulls included; None when it never gave one."""
    capability_fingerprint: str | None = None
    """Worked out here from `capabilities`, never taken from a peer."""
    origin: Origin = "registered"
    """Came by itself and may go silent, or stands in the configuration and never expires."""
    api_key: str | None = field(default=None, repr=False)
    """What to send it as bearer token instead of the client's."""
    health_endpoint: str | None = None
    """The path its probe asks; None leaves the choice to the prober."""
    max_concurrent: int | None = None
    """Most requests at once; None is no cap."""
    registered_wall_s: float = 0.0
    """When it first came, in seconds since the epoch; for people."""
    models: frozenset[str] | None = None
    """Models it declared; None means unknown, so it may serve any."""
    model_override: str | None = None
    """The model name written into every request for it; None passes the client's through."""

    @property
    def server(self) -> Server:
        """Where it is, whatever it calls itself and whichever model it is asked for."""
        return (self.host, self.port, self.base_path)

    @property
    def address(self) -> Address:
        """What two descriptions of the same Instance have in common, whatever their ids.

        The override belongs to it: one URL may be configured once for each model behind it.
        """
        return (*self.server, self.model_override)

    @property
    def authority(self) -> str:
        """Host and port as they stand in a URL and a Host header."""
        return authority(self.host, self.port)

    def serves(self, endpoint: str) -> bool:
        """Whether a request for `chat/completions` and the like may go to it."""
        return not self.endpoints or endpoint in self.endpoints
