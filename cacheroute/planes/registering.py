"""From a registration as it was sent to an Instance that may be asked for.

Addresses come in every form people write and leave in one; places that no Instance can
be at, and this Proxy itself, are refused with the value.
"""

from dataclasses import dataclass

from cacheroute.core.instance import Instance, address_in_default_id, default_instance_id
from cacheroute.formats.address import (
    Origin,
    forbidden_reason,
    is_loopback,
    parse_base_url,
    parse_host,
)
from cacheroute.planes.control_owner import ControlRules
from cacheroute.wire.capabilities import Capabilities
from cacheroute.wire.instances import RegisterBody


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbidden:
    """An address at which nothing may be registered."""

    code: str
    detail: str


def origin_of(host: str, port: int) -> Origin:
    """Read the `host` and `port` of a registration; ValueError names what is wrong.

    `host` may be a name, an address with or without brackets, `host:port` or a URL with a
    base path; a port in it must be the registered one.
    """
    text = host.strip()
    if text.count(":") > 1 and text.rpartition(":")[2] == str(port) and "[" not in text:
        # Valid as an IPv6 address, and far more often an address joined with its port.
        address = text.rpartition(":")[0]
        raise ValueError(
            f"{text!r} with port {port} is ambiguous: write {address!r} as the host, "
            f"or [{address}]:{port}"
        )
    if _is_bare(text):
        return Origin(parse_host(text), port)
    origin = parse_base_url(_with_port(text, port))
    if origin.port != port:
        raise ValueError(f"{text!r} names port {origin.port}, but port is {port}")
    return origin


def instance_of(body: RegisterBody, registered_wall_s: float) -> Instance:
    """Build the Instance a registration describes; ValueError when its host is none."""
    origin = origin_of(body.host, body.port)
    return Instance(
        instance_id=body.instance_id
        or default_instance_id(origin.host, origin.port, origin.base_path),
        host=origin.host,
        port=origin.port,
        base_path=origin.base_path,
        endpoints=tuple(dict.fromkeys(body.endpoints)),
        tags=tuple(dict.fromkeys(body.tags)),
        weight=body.weight,
        meta=body.meta,
        capabilities=body.capabilities.as_stored() if body.capabilities else None,
        registered_wall_s=registered_wall_s,
    )


def instance_behind(
    instance_id: str,
    capabilities: Capabilities,
    registered_wall_s: float,
) -> Instance | None:
    """Rebuild a forgotten Instance from its heartbeat; None when its id holds no address.

    An Instance that never registers a second time answers `requires_capabilities` with one
    full heartbeat. With an id of the default form, that is enough to know it again.
    """
    found = address_in_default_id(instance_id)
    if found is None:
        return None
    try:
        origin = origin_of(*found)
    except ValueError:
        return None
    return Instance(
        instance_id=instance_id,
        host=origin.host,
        port=origin.port,
        capabilities=capabilities.as_stored(),
        registered_wall_s=registered_wall_s,
    )


def forbidden(instance: Instance, rules: ControlRules) -> Forbidden | None:
    """Say why nothing may be registered at an Instance's address; None when it may.

    Judges the address as it is written; what a name points to is judged when connecting.
    """
    reason = forbidden_reason(instance.host)
    if reason:
        return Forbidden(code="forbidden_address", detail=f"{reason}.")
    is_own_host = is_loopback(instance.host) or instance.host in rules.own_hosts
    if is_own_host and instance.port in rules.own_ports:
        return Forbidden(
            code="own_address",
            detail=f"{instance.authority} is this Proxy itself, not an Instance.",
        )
    return None


def _is_bare(text: str) -> bool:
    if text.startswith("["):
        return text.endswith("]")
    return "/" not in text and (":" not in text or text.count(":") > 1)


def _with_port(text: str, port: int) -> str:
    scheme, separator, rest = text.rpartition("://")
    authority, slash, path = rest.partition("/")
    has_port = ":" in (authority.rpartition("]")[2] if authority.startswith("[") else authority)
    return f"{scheme}{separator}{authority if has_port else f'{authority}:{port}'}{slash}{path}"
