"""The token of a control plane: typed, from its variable, or from a file that a context names.

A token goes to the Proxy it is meant for and to no other: a context's file to the context's
own address, and none at all to an address that only the stack file of this folder names.
"""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from cacheroute_cli.config.layers import InForce
from cacheroute_cli.context import TOKEN_VARIABLE
from cacheroute_cli.diagnostics import UsageFault, detail, note

_MAX_TOKEN_BYTES = 16 * 1024
_FOR_OTHERS = 0o077


class BadTokenFile(UsageFault):
    """A file that should hold a token does not."""

    code = "config.token_file"


def token_for(held: InForce, *, typed: str | None, environ: Mapping[str, str]) -> str | None:
    """Return the token for the Proxy in question; raises BadTokenFile."""
    if typed:
        return typed
    address = held.values["proxy_url"]
    if held.proxy_is_from_here and not is_loopback(address.value):
        detail(f"no token goes to {address.value}, which {address.origin} names")
        return None
    if said := environ.get(TOKEN_VARIABLE):
        return said
    file = held.of_context.get("token_file")
    if file is None or held.of_context.get("proxy_url") is not address:
        return None
    path = path_of(file.value, file.origin)
    if warning := exposure(path):
        note(f"cacheroute: warning: {file.origin}: {warning}")
    try:
        with path.open("rb") as opened:
            token = opened.read(_MAX_TOKEN_BYTES).decode("ascii").strip()
    except OSError as problem:
        reason = (problem.strerror or "unknown").lower()
        raise BadTokenFile(f"{file.origin}: token_file {path} cannot be read ({reason})") from None
    except UnicodeDecodeError:
        raise BadTokenFile(f"{file.origin}: token_file {path} holds no token") from None
    if not token or not token.isprintable() or " " in token:
        raise BadTokenFile(f"{file.origin}: token_file {path} holds no token")
    return token


def path_of(said: str, origin: str) -> Path:
    """Return the file that is meant; a relative one is beside the configuration that names it."""
    path = Path(said).expanduser()
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
