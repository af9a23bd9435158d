"""How a server that runs is attached to a pool: the program to start, and what its end means."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cacheroute_cli.diagnostics import Exit, UsageFault
from cacheroute_cli.launch import Launch
from cacheroute_cli.processes import START_TIMEOUT_S, ProcessRow, start_detached
from cacheroute_cli.supervisor.faults import ChildFailed
from cacheroute_cli.supervisor.ready import wait_until
from cacheroute_cli.supervisor.runner import Child, python
from cacheroute_cli.supervisor.state import State
from cacheroute_cli.waiting import last_line, seldom, waiting

SAYS_ATTACHED = re.compile(r"^attached \S+ at (?P<url>\S+) to (?P<proxy>\S+)\s*$", re.M)


class ServerUnreachable(ChildFailed):
    """The server or the Proxy did not answer."""

    code = "server.unreachable"
    exit = Exit.UNREACHABLE


class ServerNotReady(ChildFailed):
    """The server did not answer in the time it had."""

    code = "server.not_ready"
    exit = Exit.WAIT_TIMED_OUT


class ServerWantsKey(ChildFailed):
    """The server or the Proxy wants a key."""

    code = "server.forbidden"
    exit = Exit.NOT_ALLOWED


class ServerNotUnderstood(ChildFailed):
    """What answers is no server of the OpenAI kind, or no Proxy."""

    code = "server.not_understood"
    exit = Exit.NOT_UNDERSTOOD


_BY_EXIT_CODE: dict[int, type[ChildFailed]] = {
    Exit.UNREACHABLE: ServerUnreachable,
    Exit.WAIT_TIMED_OUT: ServerNotReady,
    Exit.NOT_ALLOWED: ServerWantsKey,
    Exit.NOT_UNDERSTOOD: ServerNotUnderstood,
}


def named(fault: ChildFailed) -> ChildFailed:
    """Return the fault of a child of ours with the exit code that the child gave."""
    code = fault.details.get("child_exit")
    kind = _BY_EXIT_CODE.get(code) if isinstance(code, int) else None
    return fault if kind is None else kind(fault.message, hint=fault.hint, **fault.details)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attaching:
    """What can be said about an attachment on the command line; None is not said."""

    endpoint: str
    """Base URL of the server, as the Proxy reaches it."""
    proxy_url: str
    token: str | None = None
    """Token of the Proxy's control plane."""
    model: str | None = None
    instance_id: str | None = None
    tags: str | None = None
    weight: float | None = None
    api_key_env: str | None = None
    agent_url: str | None = None
    no_agent: bool = False
    on_this_host: bool = False
    kdn_targets: str | None = None
    interval_s: float | None = None
    wait_s: float | None = None


def name_of(attaching: Attaching) -> str:
    """Return the name that the pool and our state know it by; raises UsageFault."""
    from cacheroute.core.instance import default_instance_id
    from cacheroute.formats.address import parse_base_url

    try:
        origin = parse_base_url(attaching.endpoint)
    except ValueError as problem:
        raise UsageFault(f"the endpoint {problem}") from None
    return attaching.instance_id or default_instance_id(origin.host, origin.port, origin.base_path)


def launch_attach(attaching: Attaching) -> Launch:
    """Return how to run the program that keeps a server attached."""
    return Launch(
        kind="instance",
        name=name_of(attaching),
        argv=python("-P", "-m", "cacheroute.attach", *attach_arguments(attaching)),
        wanted=(),
        says_ready=SAYS_ATTACHED,
        env=environment(attaching),
    )


def environment(attaching: Attaching) -> Mapping[str, str]:
    """Return what must not stand on a command line."""
    return {"PROXY_CP_TOKEN": attaching.token} if attaching.token else {}


def attach_detached(attaching: Attaching, *, state: State | None = None) -> ProcessRow:
    """Attach a server behind our back, and return once it is in the pool.

    Raises AlreadyRunning, NotReady, or what the program's early end stands for.
    """
    return start_detached(
        launch_attach(attaching),
        wait=lambda child: _wait_until_attached(attaching, child),
        called="attach",
        state=state,
    )


def _wait_until_attached(attaching: Attaching, child: Child) -> re.Match[str]:
    timeout_s = (attaching.wait_s or 0.0) + START_TIMEOUT_S
    with waiting(f"attaching {attaching.endpoint}", lambda: last_line(child.last_words())) as tick:

        def attached() -> re.Match[str] | None:
            tick()
            return SAYS_ATTACHED.search(child.first_words())

        try:
            return wait_until(
                seldom(attached),
                what=f"{attaching.endpoint} was not in the pool",
                children=[child],
                timeout_s=timeout_s,
            )
        except ChildFailed as fault:
            raise named(fault) from None


def attach_arguments(attaching: Attaching) -> Iterator[str]:
    """Give the command line of the program."""
    yield from ("--endpoint", attaching.endpoint, "--proxy-cp-url", attaching.proxy_url)
    yield from said_of_member(attaching)
    yield from _said({"--interval": attaching.interval_s, "--wait": attaching.wait_s})
    if attaching.on_this_host:
        yield "--on-this-host"


def said_of_member(attaching: Attaching) -> Iterator[str]:
    """Give the options about the member of the pool, which `instance run` spells the same."""
    yield from _said(
        {
            "--model": attaching.model,
            "--instance-id": attaching.instance_id,
            "--tags": attaching.tags,
            "--weight": attaching.weight,
            "--api-key-env": attaching.api_key_env,
            "--agent-url": attaching.agent_url,
            "--kdn-targets": attaching.kdn_targets,
        }
    )
    if attaching.no_agent:
        yield "--no-agent"


def _said(options: Mapping[str, str | float | None]) -> Iterator[str]:
    for option, value in options.items():
        if value is not None:
            yield from (option, str(value))
