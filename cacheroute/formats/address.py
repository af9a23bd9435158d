"""Addresses of peers: read in every form people write, kept in one canonical form.

The canonical form is what makes two spellings of one Instance the same Instance: lower-case
host without brackets, port as a number, base path without a trailing slash or `/v1`.
"""

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Literal

MAX_ADDRESS_CHARS = 2048
_MAX_SHOWN_CHARS = 100
_HTTP_PORT = 80

_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)", re.ASCII)
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.ASCII | re.DOTALL)
_SEGMENT = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+", re.ASCII)
_USERINFO = re.compile(r".*@", re.DOTALL)

_REQUEST_PATHS = (
    "/chat/completions",
    "/completions",
    "/embeddings",
    "/models",
    "/responses",
    "/messages",
    "/rerank",
    "/score",
    "/tokenize",
    "/detokenize",
)

_METADATA_HOSTS = frozenset(
    ("metadata.google.internal", "169.254.169.254", "fd00:ec2::254", "100.100.100.200"),
)
_EMBEDS_IPV4 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class Address:
    """Where something listens."""

    host: str
    """A name or an IP address, lower-case and without brackets."""
    port: int
    """1 to 65535."""

    @property
    def authority(self) -> str:
        """The `host:port` of a URL or a Host header, with brackets round an IPv6 address."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return self.authority


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an Instance is reached; request paths are appended to it."""

    host: str
    """A name or an IP address, lower-case and without brackets."""
    port: int
    """1 to 65535."""
    base_path: str = ""
    """What stands before `/v1` in every request path: empty, or `/base`, no slash at its end."""
    scheme: Literal["http"] = "http"
    """Instances are spoken to in plain HTTP."""

    @property
    def authority(self) -> str:
        """The `host:port` of a URL or a Host header, with brackets round an IPv6 address."""
        return Address(self.host, self.port).authority

    @property
    def url(self) -> str:
        """The canonical base URL, for example `http://[::1]:8000/base`."""
        return f"{self.scheme}://{self.authority}{self.base_path}"

    def __str__(self) -> str:
        return self.url


def parse_host(text: str) -> str:
    """Return a host in canonical form; brackets round an IPv6 address are taken off.

    ValueError names what is wrong. Numbers in other shapes than four decimal parts are refused,
    because resolvers read `2852039166` and `0xa9fea9fe` as an address nobody has checked.
    """
    bracketed = text.startswith("[") and text.endswith("]")
    inner = text[1:-1] if bracketed else text
    if not inner:
        raise ValueError("the host is empty")
    if ":" in inner or bracketed:
        return _parse_ipv6(inner, text)
    host = inner.lower().removesuffix(".")
    labels = host.split(".")
    if _NUMERIC_LABEL.fullmatch(labels[-1]):
        try:
            return str(IPv4Address(host))
        except AddressValueError:
            raise ValueError(
                f"{_shown(text)} is not an IPv4 address: write four numbers, as in 10.0.0.7"
            ) from None
    if not host.isascii():
        raise ValueError(
            f"the host {_shown(text)} has letters outside ASCII: write its xn-- form instead"
        )
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError(f"{_shown(text)} is not a host name or an IP address")
    return host


def parse_port(text: str) -> int:
    """Return a port from its digits; 1 to 65535."""
    if not (text.isascii() and text.isdigit()) or len(text) > 16:
        raise ValueError(f"the port must be a number from 1 to 65535, not {_shown(text)}")
    port = int(text)
    if not 1 <= port <= 65535:
        raise ValueError(f"the port must be from 1 to 65535, not {port}")
    return port


def parse_host_port(text: str) -> Address:
    """Read `host:port`, with brackets round an IPv6 address."""
    host, port = _split_authority(text.strip())
    if port is None:
        raise ValueError(f"{_shown(text)} has no port: write {Address(host, 8000).authority}")
    return Address(host, port)


def parse_base_url(text: str) -> Origin:
    """Read where an Instance is: `host:port` or an http URL, with or without `/v1` at its end.

    Never repeats a user name or password that it refuses: its message may reach a log.
    """
    stripped = text.strip()
    if len(stripped) > MAX_ADDRESS_CHARS:
        raise ValueError(f"an address has at most {MAX_ADDRESS_CHARS} characters")
    match = _SCHEME.fullmatch(stripped)
    scheme, rest = (match[1].lower(), match[2]) if match else (None, stripped)
    if scheme == "https":
        raise ValueError(
            f"{_shown(text)} asks for TLS, but Instances are spoken to in plain HTTP: "
            "use http://, or put a TLS client (stunnel, nginx) between"
        )
    if scheme not in (None, "http"):
        raise ValueError(f"{_shown(text)} must start with http://, not {scheme}://")
    if "?" in rest or "#" in rest:
        raise ValueError(f"{_shown(text)} has a query or a fragment, which a base URL cannot have")
    authority, slash, path = rest.partition("/")
    if "@" in rest:  # in the path as well: a password with a slash in it ends up there
        raise ValueError(
            f"{_shown(text)} holds a user name or password: give a key as api_key instead"
        )
    host, port = _split_authority(authority)
    if port is None:
        if scheme is None:
            raise ValueError(f"{_shown(text)} has no port: write {Address(host, 8000).authority}")
        port = _HTTP_PORT
    where = Address(host, port)
    return Origin(host, port, _canonical_base_path(slash + path, where))


def is_loopback(host: str) -> bool:
    """Whether a bind to this host can be reached from this machine only."""
    address = _ip(host)
    return address.is_loopback if address else host.lower().removesuffix(".") == "localhost"


def is_unspecified(host: str) -> bool:
    """Whether this is the address that means all interfaces: good to bind, never to advertise."""
    address = _ip(host)
    return address.is_unspecified if address else False


def forbidden_reason(host: str) -> str | None:
    """Why nothing may be registered at this host; None when it may.

    Loopback and private addresses may: fleets are private. Ask again with the resolved address
    when a name is connected to, since anyone can point a name at 169.254.169.254.
    """
    canonical = host.lower().removesuffix(".").removeprefix("[").removesuffix("]")
    address = _ip(canonical)
    if address is not None:
        canonical = str(address)
    if canonical in _METADATA_HOSTS:
        return f"{canonical} is a cloud metadata service, not an Instance"
    if address is None:
        return None
    if address.is_link_local:
        return f"{canonical} is a link-local address, where cloud metadata services live"
    if address.is_unspecified or (address.version == 4 and int(address) >> 24 == 0):
        return f"{canonical} means all interfaces of a machine, not one that can be reached"
    if address.is_multicast:
        return f"{canonical} is a multicast address, not one machine"
    if canonical == "255.255.255.255":
        return f"{canonical} is the broadcast address, not one machine"
    return None


def _ip(host: str) -> IPv4Address | IPv6Address | None:
    """Read an IP address, unwrapping the IPv6 forms that carry an IPv4 one to the same place."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address.sixtofour is not None:
            return address.sixtofour
        if address in _EMBEDS_IPV4:
            return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _parse_ipv6(inner: str, text: str) -> str:
    if "%" in inner:
        raise ValueError(f"{_shown(text)} names a network interface, which an address here cannot")
    try:
        return str(IPv6Address(inner))
    except AddressValueError:
        if inner.count(":") == 1:
            raise ValueError(f"{_shown(text)} holds a port, which is given apart here") from None
        raise ValueError(f"{_shown(text)} is not an IPv6 address") from None


def _split_authority(authority: str) -> tuple[str, int | None]:
    if authority.startswith("["):
        inner, bracket, after = authority.partition("]")
        if not bracket or (after and not after.startswith(":")):
            raise ValueError(f"{_shown(authority)} is not [host]:port: write [::1]:8000")
        return parse_host(inner + bracket), parse_port(after[1:]) if after else None
    if authority.count(":") > 1:
        raise ValueError(
            f"{_shown(authority)} is ambiguous: write an IPv6 address in brackets, "
            f"as in {_bracketed_example(authority)}"
        )
    host, colon, port = authority.partition(":")
    return parse_host(host), parse_port(port) if colon else None


def _bracketed_example(authority: str) -> str:
    host, _, port = authority.rpartition(":")
    try:
        return Address(str(IPv6Address(host)), parse_port(port)).authority
    except ValueError:
        return "[::1]:8000"


def _canonical_base_path(path: str, where: Address) -> str:
    base = path.rstrip("/")
    if any(base.endswith(request) for request in _REQUEST_PATHS) or "/v1/" in base:
        raise ValueError(
            f"{_shown(path)} is the path of a request, which would be appended twice: "
            f"give the base URL alone, as in http://{where.authority}"
        )
    if base.endswith("/v1"):
        base = base.removesuffix("/v1").rstrip("/")
    for segment in base.split("/")[1:]:
        if not segment:
            raise ValueError(f"the path {_shown(path)} has a double slash")
        if segment in (".", "..") or not _SEGMENT.fullmatch(segment):
            raise ValueError(f"the path {_shown(path)} has a part that no base path can have")
    return base


def _shown(text: str) -> str:
    """Quote what was given, without what may be a secret in it."""
    scheme, found, rest = text.partition("://")
    if not found:
        scheme, rest = "", text
    rest = _USERINFO.sub("…@", rest, count=1)
    for mark in "?#":
        head, has_mark, _ = rest.partition(mark)
        rest = f"{head}{mark}…" if has_mark else rest
    whole = f"{scheme}{found}{rest}"
    return repr(whole if len(whole) <= _MAX_SHOWN_CHARS else f"{whole[:_MAX_SHOWN_CHARS]}…")
