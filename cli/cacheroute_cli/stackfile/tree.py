"""A stack as its file describes it: which programs, with which options; nothing chosen yet.

Ports may still be AUTO, paths are absolute, and every rule that was left out is None.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cacheroute_cli.supervisor.process import FailureMode, RestartMode

AUTO = "auto"
"""The port is chosen when the stack is planned."""
Port = int | str
"""A number, or AUTO."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a process is kept; None leaves the word to `defaults`, and then to its kind."""

    restart: RestartMode | None = None
    backoff_s: tuple[float, float] | None = None
    """First and longest pause before a restart."""
    max_restarts: tuple[int, float] | None = None
    """So many within so many seconds."""
    stop_signal: int | None = None
    grace_s: float | None = None
    ready_http: str | None = None
    """Path or URL."""
    ready_timeout_s: float | None = None
    on_failure: FailureMode | None = None

    def over(self, others: "Rules") -> "Rules":
        """Return these rules, filled up from others."""
        return Rules(
            **{
                name: getattr(others, name) if getattr(self, name) is None else getattr(self, name)
                for name in self.__slots__
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """What every entry may have besides its own options."""

    env: Mapping[str, str] = field(default_factory=dict)
    args: tuple[str, ...] = ()
    """More arguments for its program, as they are."""
    rules: Rules = Rules()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyEntry:
    """The Proxy."""

    host: str = "127.0.0.1"
    port: Port = 8001
    cp_host: str = "127.0.0.1"
    cp_port: Port = 8002
    options: Mapping[str, str] = field(default_factory=dict)
    """Further published options by name, such as `strategy`."""
    config: Path | None = None
    settings: tuple[str, ...] = ()
    """Any other setting, as `path=value`."""
    static: tuple[str, ...] = ()
    """URLs of servers that are always in the pool."""
    extra: Extra = Extra()


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoInstanceEntry:
    """An Instance without a model."""

    name: str
    host: str = "127.0.0.1"
    port: Port = 9001
    id: str | None = None
    """Name in the pool; None takes `name`."""
    options: Mapping[str, str] = field(default_factory=dict)
    extra: Extra = Extra()


@dataclass(frozen=True, slots=True, kw_only=True)
class RealInstanceEntry:
    """A server of somebody else that is put into the pool, and perhaps started here."""

    name: str
    endpoint: str
    command: tuple[str, ...] = ()
    """What starts it; empty when it runs already."""
    cwd: Path | None = None
    id: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    """For the program that puts it into the pool."""
    extra: Extra = Extra()


InstanceEntry = DemoInstanceEntry | RealInstanceEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEntry:
    """The program that tells how loaded this host is."""

    name: str = "agent"
    host: str = "127.0.0.1"
    port: Port = 9201
    reuse: bool = True
    """Whether a healthy one that is there already will do."""
    extra: Extra = Extra()


@dataclass(frozen=True, slots=True, kw_only=True)
class KdnEntry:
    """A demo knowledge node."""

    host: str = "127.0.0.1"
    port: Port = 9101
    options: Mapping[str, str] = field(default_factory=dict)
    extra: Extra = Extra()


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisEntry:
    """A Redis that keeps KV for the demo knowledge node."""

    program: str = "redis-server"
    port: Port = 6379
    extra: Extra = Extra()


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerEntry:
    """A demo Scheduler."""

    host: str = "127.0.0.1"
    port: Port = 7001
    cp_port: Port = 7002
    options: Mapping[str, str] = field(default_factory=dict)
    extra: Extra = Extra()


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedInstances:
    """So many demo Instances that only differ in their number."""

    count: int = 2
    first_port: Port = 9001
    pattern: DemoInstanceEntry = DemoInstanceEntry(name="instance")


@dataclass(frozen=True, slots=True, kw_only=True)
class StackFile:
    """One stack."""

    name: str
    file: Path | None = None
    """None for the default stack."""
    proxy: ProxyEntry = ProxyEntry()
    instances: CountedInstances | tuple[InstanceEntry, ...] = CountedInstances()
    agents: tuple[AgentEntry, ...] = (AgentEntry(),)
    kdn: KdnEntry | None = None
    redis: RedisEntry | None = None
    scheduler: SchedulerEntry | None = None
    defaults: Rules = Rules()
    notes: tuple[str, ...] = ()
    """What is worth saying about the file."""
