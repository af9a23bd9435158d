"""From a stack as it is described to the processes that make it up, every port and path settled.

Pure but for the choice of free ports and a look at the PATH: who plans, starts nothing.
"""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from cacheroute.formats.address import is_loopback
from cacheroute_cli.diagnostics import Exit, Fault, UsageFault
from cacheroute_cli.launch import ProxyOptions, launch_proxy
from cacheroute_cli.stackfile.ports import PortBook
from cacheroute_cli.stackfile.rules import (
    SERVER,
    ready_path,
    ready_timeout_s,
    restart_rule,
    rules_for,
    stop_rule,
)
from cacheroute_cli.stackfile.tree import (
    AgentEntry,
    CountedInstances,
    DemoInstanceEntry,
    Extra,
    InstanceEntry,
    KdnEntry,
    ProxyEntry,
    RealInstanceEntry,
    RedisEntry,
    SchedulerEntry,
    StackFile,
)
from cacheroute_cli.supervisor.process import (
    PlannedPort,
    ProcessPlan,
    Readiness,
)
from cacheroute_cli.supervisor.runner import python


class NotCounted(UsageFault):
    """So many Instances are wanted of a stack that lists each of them."""

    code = "stack.not_counted"


class SameName(Fault):
    """Two processes of a stack have one name."""

    code = "stack.same_name"
    exit = Exit.USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the command line asks for on top of the file."""

    instances: int | None = None
    own_token: str | None = None
    """What the control plane is to ask for, unless the file says; tokens go into variables,
    never onto a command line."""
    token: str | None = None
    """What Instances show there where that is not said."""


def plan_stack(stack: StackFile, ports: PortBook, wishes: Wishes) -> tuple[ProcessPlan, ...]:
    """Return the processes of a stack, in the order in which they start.

    Raises BadPorts when two of them would listen on the same port, SameName when two have one
    name, NotCounted when so many Instances cannot be had.
    """
    plans = sorted(_Planner(stack, ports, wishes).all(), key=lambda plan: plan.rung)
    by_name: dict[str, ProcessPlan] = {}
    for plan in plans:
        other = by_name.setdefault(plan.name, plan)
        if other is not plan:
            raise SameName(
                f"two processes of the stack would be called {plan.name}: "
                f"one is {_article(other.kind)}, the other {_article(plan.kind)}",
                hint="give one of them another name in the stack file",
            )
    return tuple(plans)


def instances_of(stack: StackFile, count: int | None) -> tuple[InstanceEntry, ...]:
    """Return the Instances of a stack one by one; raises NotCounted for another count than its."""
    listed = stack.instances
    if not isinstance(listed, CountedInstances):
        if count not in (None, len(listed)):
            raise NotCounted(
                f"the Instances of {stack.file} are a list of {len(listed)}, and cannot be {count}",
                hint="add or remove entries there, and run 'cacheroute up -d --remove-orphans'",
            )
        return listed
    return tuple(
        replace(listed.pattern, name=f"instance-{number}", port=listed.first_port)
        for number in range(1, (listed.count if count is None else count) + 1)
    )


class _Planner:
    def __init__(self, stack: StackFile, ports: PortBook, wishes: Wishes) -> None:
        self._stack = stack
        self._ports = ports
        self._wishes = wishes
        self._token = wishes.own_token or wishes.token
        self._folder = None if stack.file is None else stack.file.absolute().parent
        self._control_url = ""
        self._node: str | None = None
        self._redis_url: str | None = None
        self._scheduler_url: str | None = None
        self._agent_url: str | None = None

    def all(self) -> Iterator[ProcessPlan]:
        stack = self._stack
        if stack.redis is not None:
            yield self._redis(stack.redis)
        if stack.kdn is not None:
            yield self._kdn(stack.kdn)
        if stack.scheduler is not None:
            yield self._scheduler(stack.scheduler)
        yield self._proxy(stack.proxy)
        for agent in stack.agents:
            yield self._agent(agent)
        counted = isinstance(stack.instances, CountedInstances)
        for at, entry in enumerate(instances_of(stack, self._wishes.instances)):
            if isinstance(entry, DemoInstanceEntry):
                yield self._demo(entry, step=at if counted else 0)
            else:
                yield from self._real(entry)

    def _redis(self, entry: RedisEntry) -> ProcessPlan:
        port = self._port("redis", "redis", "127.0.0.1", entry.port)
        self._redis_url = f"redis://127.0.0.1:{port.port}/0"
        program = shutil.which(entry.program) or entry.program
        argv = (
            program, "--port", f"{port.port}", "--bind", "127.0.0.1", "--save", "",
            "--appendonly", "no", "--daemonize", "no", "--dir", str(self._folder or Path.home()),
        )  # fmt: skip
        return self._plan(
            "redis", "redis", argv, entry.extra, ports=(port,),
            ready=Readiness(tcp=f"127.0.0.1:{port.port}"), is_ours=False,
            urls={"url": self._redis_url},
        )  # fmt: skip

    def _kdn(self, entry: KdnEntry) -> ProcessPlan:
        port = self._port("kdn", "kdn", entry.host, entry.port)
        self._node = f"{_reachable(entry.host)}:{port.port}"
        argv = _module("cacheroute.demo.kdn", _where(entry.host, port), entry.options)
        url = f"http://{self._node}"
        return self._plan("kdn", "kdn", argv, entry.extra, ports=(port,), urls={"url": url})

    def _scheduler(self, entry: SchedulerEntry) -> ProcessPlan:
        port = self._port("scheduler", "service", entry.host, entry.port)
        control = self._port("scheduler", "control", entry.host, entry.cp_port)
        self._scheduler_url = _url(entry.host, control.port)
        more = {"--cp-port": f"{control.port}"}
        if self._node is not None:
            more["--kdn"] = self._node
        argv = _module(
            "cacheroute.demo.scheduler", {**_where(entry.host, port), **more}, entry.options
        )
        return self._plan(
            "scheduler", "scheduler", argv, entry.extra, ports=(port, control),
            urls={"control": self._scheduler_url, "service": _url(entry.host, port.port)},
        )  # fmt: skip

    def _proxy(self, entry: ProxyEntry) -> ProcessPlan:
        port = self._port("proxy", "service", entry.host, entry.port)
        control = self._port("proxy", "control", entry.cp_host, entry.cp_port)
        self._control_url = _url(entry.cp_host, control.port)
        given: dict[str, str] = {}
        if self._scheduler_url is not None:
            given["scheduler_url"] = self._scheduler_url
        options = ProxyOptions(
            host=entry.host,
            port=port.port,
            cp_host=entry.cp_host,
            cp_port=control.port,
            config=entry.config,
            instances=entry.static,
            settings=entry.settings,
            token=self._wishes.own_token,
            **{**given, **entry.options},  # type: ignore[arg-type]
        )
        launch = launch_proxy(options, {})
        return replace(
            self._plan(
                "proxy", "proxy", launch.argv, entry.extra, ports=(port, control),
                urls={"control": self._control_url, "service": _url(entry.host, port.port)},
                env=launch.env,
            ),
            check=(*launch.argv, "--check"),
        )  # fmt: skip

    def _agent(self, entry: AgentEntry) -> ProcessPlan:
        port = self._port(entry.name, "agent", entry.host, entry.port)
        url = _url(entry.host, port.port)
        self._agent_url = self._agent_url or url
        argv = _module("cacheroute.agent", {"--listen": f"{_bracketed(entry.host)}:{port.port}"})
        plan = self._plan(entry.name, "agent", argv, entry.extra, ports=(port,), urls={"url": url})
        return replace(plan, reuse=plan.ready.http if entry.reuse else None)

    def _demo(self, entry: DemoInstanceEntry, *, step: int) -> ProcessPlan:
        port = self._port(entry.name, "instance", entry.host, entry.port, step=step)
        member = entry.id or entry.name
        options = {"--instance-id": member, "--proxy-cp-url": self._control_url}
        if self._agent_url is not None:
            options["--agent-url"] = self._agent_url
        if self._redis_url is not None:
            options["--kv-redis"] = self._redis_url
        if self._node is not None:
            options["--kdn-targets"] = self._node
        argv = _module(
            "cacheroute.demo.instance", {**_where(entry.host, port), **options}, entry.options
        )
        if self._agent_url is None:
            argv = (*argv, "--no-agent")
        url = _url(entry.host, port.port)
        return self._plan(
            entry.name, "instance", argv, entry.extra, ports=(port,), urls={"url": url},
            ready=replace(self._in_pool(member), http=f"{url}/health"),
            env=self._secrets(),
        )  # fmt: skip

    def _real(self, entry: RealInstanceEntry) -> Iterator[ProcessPlan]:
        name = entry.name
        if entry.command:
            first, *others = entry.command
            yield self._plan(
                name, "instance", (_program(first, entry.cwd or self._folder), *others),
                entry.extra, rules_kind=SERVER, cwd=entry.cwd, is_ours=False,
                ready=Readiness(http=f"{entry.endpoint}/health"), urls={"url": entry.endpoint},
            )  # fmt: skip
            name = f"{entry.name}.attach"
        member = entry.id or entry.name
        timeout_s = ready_timeout_s(rules_for(SERVER, entry.extra.rules, self._stack.defaults))
        options = {
            "--endpoint": entry.endpoint,
            "--instance-id": member,
            "--proxy-cp-url": self._control_url,
            "--wait": f"{timeout_s:g}",
        }
        if self._node is not None:
            options["--kdn-targets"] = self._node
        if self._agent_url is not None and _is_here(entry.endpoint):
            options["--agent-url"] = self._agent_url
        argv = _module("cacheroute.attach", options, entry.options)
        if "--agent-url" not in argv:
            argv = (*argv, "--no-agent")
        yield self._plan(
            name, "attach", argv, Extra() if entry.command else entry.extra,
            urls={"url": entry.endpoint},
            ready=self._in_pool(member),
            env={**self._secrets(), **entry.extra.env},
        )  # fmt: skip

    def _plan(
        self,
        name: str,
        kind: str,
        argv: tuple[str, ...],
        extra: Extra,
        *,
        ports: tuple[PlannedPort, ...] = (),
        urls: Mapping[str, str],
        ready: Readiness | None = None,
        env: Mapping[str, str] | None = None,
        rules_kind: str | None = None,
        cwd: Path | None = None,
        is_ours: bool = True,
    ) -> ProcessPlan:
        own, defaults = extra.rules, self._stack.defaults
        rules = rules_for(rules_kind or kind, own, defaults)
        base = next(iter(urls.values()))
        ready = Readiness(http=f"{base}/healthz") if ready is None else ready
        path = ready_path(kind, own, defaults)
        if path is not None and ready.http is not None:
            ready = replace(ready, http=path if "://" in path else base + path)
        folder = cwd or self._folder
        return ProcessPlan(
            name=name,
            kind=kind,
            argv=(*argv, *extra.args),
            env={**(env or {}), **extra.env},
            cwd=None if folder is None else str(folder),
            ports=ports,
            urls=dict(urls),
            ready=replace(ready, timeout_s=ready_timeout_s(rules)),
            restart=restart_rule(rules),
            stop=stop_rule(rules),
            is_ours=is_ours,
            on_failure=rules.on_failure or "keep",
        )

    def _port(
        self, process: str, name: str, host: str, port: int | str, *, step: int = 0
    ) -> PlannedPort:
        number = self._ports.number(process, name, port, step=step)
        return PlannedPort(name=name, host=host, port=number)

    def _in_pool(self, member: str) -> Readiness:
        return Readiness(member=member, pool=self._control_url, token=self._token)

    def _secrets(self) -> dict[str, str]:
        return {"PROXY_CP_TOKEN": self._token} if self._token else {}


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _module(module: str, *options: Mapping[str, str]) -> tuple[str, ...]:
    together = {name: value for part in options for name, value in part.items()}
    arguments = [text for pair in together.items() for text in pair]
    return python("-P", "-m", module, *arguments)


def _where(host: str, port: PlannedPort) -> dict[str, str]:
    return {"--host": host, "--port": f"{port.port}"}


def _program(name: str, folder: Path | None) -> str:
    """Find a program as a shell in the stack file's folder would; left as it is when it can't."""
    if "/" in name:
        return str((folder or Path.cwd()) / name)
    return shutil.which(name) or name


def _is_here(url: str) -> bool:
    return is_loopback(urlsplit(url).hostname or "")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _reachable(host: str) -> str:
    """Return where a local program reaches one that listens on this host."""
    return _bracketed({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host))


def _url(host: str, port: int) -> str:
    return f"http://{_reachable(host)}:{port}"
