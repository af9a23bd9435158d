"""What no single value can tell: settings that contradict each other, and those worth a warning."""

from collections.abc import Iterator

from cacheroute.formats.address import (
    forbidden_reason,
    is_loopback,
    is_unspecified,
    parse_host_port,
)
from cacheroute.settings.knowledge import ANY
from cacheroute.settings.tree import Settings
from cacheroute.settings.values import InnerPath

Finding = tuple[InnerPath, str]


def contradictions(settings: Settings) -> Iterator[Finding]:
    """Yield what stops a Proxy from starting, each with the setting it is about."""
    proxy, control = settings.proxy, settings.control
    if proxy.port and proxy.port == control.port:
        shares = proxy.host == control.host or any(map(is_unspecified, (proxy.host, control.host)))
        if shares:
            yield ("control", "port"), f"is {control.port}, which proxy.port is as well"
    if control.is_exposed and not control.allow_remote:
        yield (
            ("control", "host"),
            f"{control.host} can be reached from other machines, where anyone could add and "
            "remove Instances: set control.token, or control.allow_remote to accept that",
        )
    names: dict[str, int] = {}
    addresses: dict[tuple[str, str | None], int] = {}
    for index, backend in enumerate(settings.backends):
        if (first := names.setdefault(backend.name, index)) != index:
            yield (
                ("backends", index, "name"),
                f"{backend.name!r} is the name of backends[{first}] as well",
            )
        address = (backend.url.url, backend.model_name or None)
        if (first := addresses.setdefault(address, index)) != index:
            yield (
                ("backends", index, "url"),
                f"{backend.url} is the address of backends[{first}] as well, "
                "with the same model_name",
            )
        if reason := forbidden_reason(backend.url.host):
            yield ("backends", index, "url"), reason
    for index, instance in enumerate(settings.pool.instances):
        if reason := forbidden_reason(instance.origin.host):
            yield ("pool", "instances", index), reason
    yield from _wrong_scheduler(settings)
    for index, node in enumerate(settings.kdn.allow):
        if node != ANY and (reason := forbidden_reason(parse_host_port(node).host)):
            yield ("kdn", "allow", index), reason
    try:
        settings.predict.load()
    except ValueError as error:
        for problem in str(error).splitlines():
            yield ("predict", "coefficients"), problem


def cautions(settings: Settings) -> Iterator[Finding]:
    """Yield what a Proxy starts with all the same, but somebody should know."""
    proxy, control = settings.proxy, settings.control
    if control.is_exposed:
        yield (
            ("control", "host"),
            f"{control.host} can be reached from other machines, and nobody there is asked for a "
            "token; calls that change the pool are taken from this machine only",
        )
    if not is_loopback(proxy.host):
        yield (
            ("proxy", "host"),
            f"{proxy.host} can be reached from other machines, and the service plane asks "
            "nobody who they are: whoever reaches it can use the Instances",
        )
    if is_unspecified(proxy.host) and proxy.advertise_host is None:
        yield (
            ("proxy", "advertise_host"),
            f"is not set and {proxy.host} is no address to tell others, so they are told "
            f"{proxy.advertised_host}",
        )
    scheduler = settings.scheduler.url
    if scheduler and not is_loopback(scheduler.host) and is_loopback(proxy.advertised_host):
        yield (
            ("scheduler", "url"),
            f"{scheduler.host} is another machine, and is told to send requests to "
            f"{proxy.advertised_host}, which is itself: set proxy.advertise_host",
        )
    if ANY in settings.kdn.allow:
        yield (
            ("kdn", "allow"),
            f"{ANY} lets whoever may send requests have this Proxy ask any address",
        )
    seen = {backend.url.url for backend in settings.backends}
    for index, instance in enumerate(settings.pool.instances):
        if instance.origin.url in seen:
            yield ("pool", "instances", index), f"{instance.origin} is named twice and counts once"
        seen.add(instance.origin.url)


def _wrong_scheduler(settings: Settings) -> Iterator[Finding]:
    scheduler = settings.scheduler.url
    if scheduler is None:
        return
    if reason := forbidden_reason(scheduler.host):
        yield ("scheduler", "url"), reason
    for plane, where in (("proxy", settings.proxy), ("control", settings.control)):
        hosts = {where.host, settings.proxy.advertised_host}
        here = scheduler.host in hosts or is_loopback(scheduler.host)
        if here and scheduler.port == where.port:
            yield ("scheduler", "url"), f"{scheduler} is {plane}.port of this Proxy itself"
