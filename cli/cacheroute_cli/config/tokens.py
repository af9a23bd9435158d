"""The token of a control plane: typed, from its variable, or from a file that a context names.

A token goes to the Proxy it is meant for and to no other: a context's file to the context's
own address, and none at all to an address that only the stack file of this folder names.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from cacheroute.wire.headers import can_carry
from cacheroute_cli.config.layers import InForce
from cacheroute_cli.config.places import expanded
from cacheroute_cli.context import TOKEN_VARIABLE
from cacheroute_cli.diagnostics import UsageFault, detail, note

_MAX_TOKEN_BYTES = 16 * 1024
_FOR_OTHERS = 0o077


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token, and where it comes from."""

    value: str = field(repr=False)
    origin: str
    """`--token`, its variable, or the file that a context names."""
    file: Path | None = None
    """Where it can be read anew."""


class BadToken(UsageFault):
    """What is given as a token cannot be one."""

    code = "config.token"


class BadTokenFile(UsageFault):
    """A file that should hold a token does not."""

    code = "config.token_file"


def token_for(held: InForce, *, typed: str | None, environ: Mapping[str, str]) -> Token | None:
    """Return the token for the Proxy in question; raises BadToken or BadTokenFile."""
    if typed:
        return Token(value=_fit(typed, "--token"), origin="--token")
    address = held.values["proxy_url"]
    if held.proxy_is_from_here and not is_loopback(address.value):
        detail(f"no token goes to {address.value}, which {address.origin} names")
        return None
    if said := environ.get(TOKEN_VARIABLE):
        return Token(value=_fit(said, TOKEN_VARIABLE), origin=TOKEN_VARIABLE)
    file = held.of_context.get("token_file")
    if file is None or held.of_context.get("proxy_url") is not address:
        return None
    path = path_of(file.value, file.origin)
    if warning := exposure(path):
        note(f"cacheroute: warning: {file.origin}: {warning}")
    try:
        return Token(value=read_token(path), origin=f"token_file {file.value}", file=path)
    except ValueError as problem:
        raise BadTokenFile(f"{file.origin}: token_file {path} {problem}") from None


def _fit(token: str, origin: str) -> str:
    if not can_carry(token):
        raise BadToken(f"{origin} holds what no HTTP header can carry")
    return token


def read_token(path: Path) -> str:
    """Return the token that a file holds; raises ValueError with the reason."""
    try:
        with path.open("rb") as opened:
            token = opened.read(_MAX_TOKEN_BYTES).decode("ascii").strip()
    except OSError as problem:
        reason = (problem.strerror or "unknown").lower()
        raise ValueError(f"cannot be read ({reason})") from None
    except UnicodeDecodeError:
        raise ValueError("holds no token") from None
    if not token or not token.isprintable() or " " in token:
        raise ValueError("holds no token")
    return token


def path_of(said: str, origin: str) -> Path:
    """Return the file that is meant; a relative one is beside the configuration that names it."""
    path = expanded(said)
    return path if path.is_absolute() else Path(origin.rpartition(":")[0]).parent / path


def exposure(path: Path) -> str | None:
    """Return what is wrong with who may read a secret; None when nothing is."""
    try:
        mode = path.stat().st_mode & 0o777
    except OSError:
        return None
    if not mode & _FOR_OTHERS:
        return None
    return f"{path} can be read by others (mode {mode:o}); chmod 600 keeps it yours"


def is_loopback(url: str) -> bool:
    """Whether an address is on this host."""
    import ipaddress

    host = urlsplit(url).hostname or ""
    try:
        # A name such as 127.example.org begins like an address, and may be anybody's.
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
