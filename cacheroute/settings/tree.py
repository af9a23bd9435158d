"""The whole tree of settings, frozen.

It reads nothing by itself: `load` hands in what files, environment and command line gave, and
knows where each value came from. `Settings()` alone is the defaults.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.limits import Limits, Timeouts
from cacheroute.settings.instances import Backend, StaticInstance
from cacheroute.settings.knowledge import (
    InjectionSettings,
    KdnSettings,
    PredictSettings,
    SchedulerSettings,
)
from cacheroute.settings.sections import (
    ControlSettings,
    PoolSettings,
    ProxySettings,
    StrategySettings,
)

REQUEST_LOG_FILE = "requests.jsonl"
_HOMELESS = Path("/var/lib/cacheroute")


def default_state_dir(environ: Mapping[str, str]) -> Path:
    """Return where state is kept by the XDG rules, under which a relative folder is none."""
    xdg = environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(xdg):
        return Path(xdg, "cacheroute")
    home = environ.get("HOME") or os.path.expanduser("~")
    return Path(home, ".local/state/cacheroute") if os.path.isabs(home) else _HOMELESS


def _expand_home(path: Path) -> Path:
    return Path(os.path.expanduser(path))


def _lower(given: object) -> object:
    return given.lower() if isinstance(given, str) else given


class Settings(BaseSettings):
    """Everything that can be set about a Proxy."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True
    )

    proxy: ProxySettings = ProxySettings()
    """The service plane and who this Proxy is."""
    control: ControlSettings = ControlSettings()
    """The control plane."""
    pool: PoolSettings = PoolSettings()
    """The Instance pool."""
    strategy: StrategySettings = StrategySettings()
    """Which Instance gets a request."""
    scheduler: SchedulerSettings = SchedulerSettings()
    """The Scheduler that this Proxy registers with."""
    queues: QueueRules = QueueRules()
    """The turnstiles before every Instance."""
    injection: InjectionSettings = InjectionSettings()
    """The choice between text and KV."""
    kdn: KdnSettings = KdnSettings()
    """Knowledge nodes: which may be asked, and how far they are."""
    predict: PredictSettings = PredictSettings()
    """Where forecasts of latency come from."""
    limits: Limits = Limits()
    """How much a peer may send."""
    timeouts: Timeouts = Timeouts()
    """How long a peer may be silent."""
    backends: tuple[Backend, ...] = ()
    """Static Instances in the gateway's form: name, url and options of each."""
    state_dir: Annotated[Path, AfterValidator(_expand_home)] = Field(
        default_factory=lambda: default_state_dir(os.environ)
    )
    """Folder of what survives a restart; by default `cacheroute` under `$XDG_STATE_HOME`."""
    log_level: Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(_lower)] = (
        "info"
    )
    """How much the Proxy says about itself: `debug`, `info`, `warning` or `error`."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take what is handed in and nothing else: the stock sources let typos pass silently."""
        return (init_settings,)

    @property
    def static_instances(self) -> tuple[StaticInstance, ...]:
        """Every Instance named here, each once; an entry of `backends` says most.

        `backends` may name one URL several times, each time for another model.
        """
        named = [backend.instance for backend in self.backends]
        bare = {instance.origin: instance for instance in self.pool.instances}
        for instance in named:
            bare.pop(instance.origin, None)
        return (*bare.values(), *named)

    def proxy_state_dir(self, bound_port: int | None = None) -> Path:
        """Return the folder of this one Proxy; `bound_port` is what port 0 turned into."""
        return self.state_dir / self.proxy.id_at(bound_port)

    def request_log_path(self, bound_port: int | None = None) -> Path | None:
        """Return the file of the request log, None when it is off."""
        match self.proxy.request_log:
            case None:
                return self.proxy_state_dir(bound_port) / REQUEST_LOG_FILE
            case "off":
                return None
            case path:
                return _expand_home(Path(path))
