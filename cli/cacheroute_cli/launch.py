"""What each kind of process is started with, as a value that can be looked at.

Options that were not given are not passed on: their defaults belong to the program, and so
does the judgement of their values.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cacheroute_cli.supervisor.ports import Wanted, read_port
from cacheroute_cli.supervisor.runner import python

PROXY_PORT = 8001
CONTROL_PORT = 8002
INSTANCE_PORT = 9001
AGENT_LISTEN = "127.0.0.1:9201"

_PROXY_SAYS = re.compile(r"^service (?P<service>\S+)\s+control (?P<control>\S+)\s*$", re.M)
_LISTENING = re.compile(r"^listening on (?P<url>\S+)\s*$", re.M)

_CONFIG_VARIABLES = ("CACHEROUTE_CONFIG", "CONFIG_PATH")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One process that is to run."""

    kind: str
    """`proxy`, `instance` or `agent`."""
    name: str
    argv: tuple[str, ...]
    wanted: tuple[Wanted, ...]
    """Ports it will listen on, as far as we know them beforehand."""
    says_ready: re.Pattern[str]
    """The line it writes when it is ready; its named groups are URLs."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables on top of ours, for what must not stand on a command line."""
    typed: Mapping[str, str] = field(default_factory=dict)
    """How the program names what it was given, to how it was typed here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyOptions:
    """What can be said about a Proxy on the command line; None is not said."""

    host: str | None = None
    port: int | None = None
    cp_host: str | None = None
    cp_port: int | None = None
    strategy: str | None = None
    injection_strategy: str | None = None
    ready_release_policy: str | None = None
    kdn_links_json: str | None = None
    scheduler_url: str | None = None
    proxy_id: str | None = None
    max_capacity: int | None = None
    config: Path | None = None
    instances: Sequence[str] = ()
    """Static Instances: URLs, each with `,api_key=env:NAME` behind it if it needs a key."""
    settings: Sequence[str] = ()
    """More settings, as `path=value`."""
    token: str | None = None
    """What its control plane is to ask for; goes into a variable, never onto a command line."""


_SETTING_OF = {
    "host": "proxy.host",
    "port": "proxy.port",
    "cp_host": "control.host",
    "cp_port": "control.port",
    "strategy": "strategy.name",
    "injection_strategy": "injection.strategy",
    "ready_release_policy": "queues.release_policy",
    "kdn_links_json": "kdn.links",
    "scheduler_url": "scheduler.url",
    "proxy_id": "proxy.id",
    "max_capacity": "proxy.max_capacity",
}
"""Which setting of the Proxy each option stands for."""

_FLAT_NAME_OF = {
    "host": "PROXY_DP_HOST",
    "port": "PROXY_DP_PORT",
    "cp_host": "PROXY_CP_HOST",
    "cp_port": "PROXY_CP_PORT",
    "proxy_id": "PROXY_ID",
}
_DEFAULT_OF: dict[str, str] = {
    "host": "127.0.0.1",
    "port": str(PROXY_PORT),
    "cp_host": "127.0.0.1",
    "cp_port": str(CONTROL_PORT),
}


def launch_proxy(options: ProxyOptions, environ: Mapping[str, str]) -> Launch:
    """Return how to run a Proxy."""
    argv = ["-P", "-m", "cacheroute"]
    typed = {f"--set pool.instances[{at}]": "--instance" for at in range(len(options.instances))}
    if options.config is not None:
        argv += ["--config", str(options.config.absolute())]
    for option, setting in _SETTING_OF.items():
        value = getattr(options, option)
        if value is not None:
            argv += ["--set", f"{setting}={value}"]
            typed[f"--set {setting}"] = f"--{option.replace('_', '-')}"
    for setting in options.settings:
        argv += ["--set", setting]
    for instance in options.instances:
        argv += ["--instance", instance]
    return Launch(
        kind="proxy",
        name=_proxy_name(options, environ),
        argv=python(*argv),
        wanted=_proxy_ports(options, environ),
        says_ready=_PROXY_SAYS,
        typed=typed,
        env={"CACHEROUTE_CONTROL__TOKEN": options.token} if options.token else {},
    )


def _proxy_name(options: ProxyOptions, environ: Mapping[str, str]) -> str:
    if name := _known("proxy_id", options, environ):
        return name
    host, port = _known("host", options, environ), _known("port", options, environ)
    if host and port:
        return f"hp_{host}:{port}"
    files = [str(options.config or ""), *(environ.get(name, "") for name in _CONFIG_VARIABLES)]
    file = next(filter(None, files), None)
    # Without a file only an empty host or port is left, and those the Proxy itself refuses.
    return f"hp_{host}:{port}" if file is None else f"config_{Path(file).stem}"


def _proxy_ports(options: ProxyOptions, environ: Mapping[str, str]) -> tuple[Wanted, ...]:
    planes = (
        ("host", "port", "service plane", "--port"),
        ("cp_host", "cp_port", "control plane", "--cp-port"),
    )
    wanted = []
    for host_option, port_option, purpose, flag in planes:
        host = _known(host_option, options, environ)
        port = _known(port_option, options, environ)
        number = None if port is None else read_port(port)
        if host and number is not None:
            wanted.append(Wanted(host=host, port=number, purpose=purpose, option=flag))
    return tuple(wanted)


def _known(option: str, options: ProxyOptions, environ: Mapping[str, str]) -> str | None:
    """Return the value that the Proxy will have for an option; None when only it can tell."""
    given = getattr(options, option)
    if given is not None:
        return str(given)
    setting = _SETTING_OF[option]
    for text in reversed(options.settings):
        path, equals, value = text.partition("=")
        if equals and path.strip() == setting:
            return value.strip()
    for name in ("CACHEROUTE_" + setting.replace(".", "__").upper(), _FLAT_NAME_OF[option]):
        if from_environment := environ.get(name):
            return from_environment
    has_file = options.config is not None or any(environ.get(v) for v in _CONFIG_VARIABLES)
    return None if has_file else _DEFAULT_OF.get(option)


def launch_instance(
    *,
    host: str | None = None,
    port: int = INSTANCE_PORT,
    instance_id: str | None = None,
    proxy_url: str | None = None,
    model: str | None = None,
    speed: float | None = None,
    agent_url: str | None = None,
    token: str | None = None,
) -> Launch:
    """Return how to run a demo Instance; it registers itself where `proxy_url` says."""
    options = {
        "--host": host,
        "--port": port,
        "--instance-id": instance_id,
        "--proxy-cp-url": proxy_url,
        "--model": model,
        "--speed": speed,
        "--agent-url": agent_url,
    }
    given = [str(part) for pair in options.items() if pair[1] is not None for part in pair]
    bind = host or "127.0.0.1"
    return Launch(
        kind="instance",
        name=instance_id or f"hp_{bind}:{port}",
        argv=python("-P", "-m", "cacheroute.demo.instance", *given),
        wanted=(Wanted(host=bind, port=port, purpose="Instance", option="--port"),),
        says_ready=_LISTENING,
        env={"PROXY_CP_TOKEN": token} if token else {},
    )


def launch_agent(listen: str = AGENT_LISTEN) -> Launch:
    """Return how to run a resource agent; `listen` is HOST:PORT."""
    host, _, text = listen.rpartition(":")
    port = read_port(text)
    wanted: tuple[Wanted, ...] = ()
    if host and port is not None:
        bare = host.removeprefix("[").removesuffix("]")
        wanted = (Wanted(host=bare, port=port, purpose="agent", option="--listen"),)
    return Launch(
        kind="agent",
        name=f"agent_{listen}",
        argv=python("-P", "-m", "cacheroute.agent", "--listen", listen),
        wanted=wanted,
        says_ready=_LISTENING,
    )
