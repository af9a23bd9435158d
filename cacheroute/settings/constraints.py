"""What a single value may be: hosts, ports, paths, names.

Each check speaks in a sentence that follows the key it is about: "proxy.port: must be …".
"""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from cacheroute.formats.address import is_unspecified, parse_host

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:\[\]@-]{0,127}|\[[A-Za-z0-9._:\[\]@-]{1,127}")
_URL_PATH = re.compile(r"(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)+", re.ASCII)
_WEB_ORIGIN = re.compile(r"https?://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?", re.ASCII)
_KEY = re.compile(r"[!-~]{1,4096}", re.ASCII)


def name(text: str) -> str:
    """Accept what can be shown in one column, used as a label and be a folder's name."""
    if not _NAME.fullmatch(text):
        raise ValueError(
            "must be 1 to 128 letters, digits or . _ : @ - and start with a letter or digit, "
            f"not {text[:160]!r}"
        )
    return text


def reachable_host(text: str) -> str:
    """Accept a host that others can connect to."""
    host = parse_host(text)
    if is_unspecified(host):
        raise ValueError(f"{host} means all interfaces: name the one address that others can reach")
    return host


def url_path(text: str) -> str:
    """Accept an absolute URL path without a query; a slash at its end is taken off."""
    path = text.rstrip("/")
    if not _URL_PATH.fullmatch(path):
        raise ValueError(f"must be a path such as /v1/embeddings, not {text[:160]!r}")
    return path


def web_origin(text: str) -> str:
    """Accept `*` or the origin of a web page: scheme, host and port, nothing more."""
    origin = text.lower().rstrip("/")
    if origin != "*" and not _WEB_ORIGIN.fullmatch(origin):
        raise ValueError(f"must be * or an origin such as https://app.example, not {text[:160]!r}")
    return origin


def header_secret(text: str) -> str:
    """Accept a key that can stand in a header; never repeats it."""
    if not _KEY.fullmatch(text):
        raise ValueError(
            "must be 1 to 4096 visible ASCII characters without spaces; leave it out for none"
        )
    if text.startswith("${") and text.endswith("}"):
        raise ValueError("is not filled in: write env:NAME to take it from the environment")
    return text


Port = Annotated[int, Field(ge=0, le=65535)]
"""A port to bind; 0 takes any free one."""
ReachablePort = Annotated[int, Field(ge=1, le=65535)]
Host = Annotated[str, AfterValidator(parse_host)]
ReachableHost = Annotated[str, AfterValidator(reachable_host)]
Name = Annotated[str, AfterValidator(name)]
UrlPath = Annotated[str, AfterValidator(url_path)]
WebOrigin = Annotated[str, AfterValidator(web_origin)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(gt=0)]
