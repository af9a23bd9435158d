"""What a command knows of its surroundings: which Proxy, how patient, what to print.

An option outranks the environment, which outranks the default; an option after the command
outranks the same one before it.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from cacheroute_cli.diagnostics import UsageFault

Format = Literal["table", "json"]
Color = Literal["auto", "always", "never"]

DEFAULT_PROXY_URL = "http://127.0.0.1:8002"
DEFAULT_TIMEOUT_S = 5.0
PROXY_URL_VARIABLES = ("CACHEROUTE_PROXY_URL", "PROXY_CP_URL")
TOKEN_VARIABLE = "CACHEROUTE_TOKEN"  # noqa: S105 - the name of a variable


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The common options as typed; None is not typed."""

    output: Format | None = None
    proxy_url: str | None = None
    timeout_s: float | None = None
    token: str | None = None
    color: Color | None = None

    def over(self, earlier: "Given") -> "Given":
        """Return these options, filled up from those typed before the command."""
        return Given(
            output=self.output or earlier.output,
            proxy_url=self.proxy_url or earlier.proxy_url,
            timeout_s=earlier.timeout_s if self.timeout_s is None else self.timeout_s,
            token=self.token or earlier.token,
            color=self.color or earlier.color,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Everything that is the same for all commands."""

    output: Format = "table"
    proxy_url: str = DEFAULT_PROXY_URL
    """Control plane of the Proxy in question."""
    proxy_url_is_default: bool = True
    """Whether nobody said which Proxy is meant."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    """Longest wait for one answer."""
    token: str | None = None
    color: Color = "auto"

    @property
    def as_json(self) -> bool:
        """Whether a program reads what is printed."""
        return self.output == "json"


def resolve(given: Given, environ: Mapping[str, str] | None = None) -> Context:
    """Fill in what was not typed; raises UsageFault for what cannot be."""
    environ = os.environ if environ is None else environ
    from_environment = next(
        (environ[name] for name in PROXY_URL_VARIABLES if environ.get(name)), ""
    )
    named = given.proxy_url or from_environment
    timeout_s = DEFAULT_TIMEOUT_S if given.timeout_s is None else given.timeout_s
    if not (timeout_s > 0 and math.isfinite(timeout_s)):
        raise UsageFault(f"--timeout must be a positive number of seconds, not {timeout_s:g}")
    return Context(
        output=given.output or "table",
        proxy_url=base_url(named) if named else DEFAULT_PROXY_URL,
        proxy_url_is_default=not named,
        timeout_s=timeout_s,
        token=given.token or environ.get(TOKEN_VARIABLE) or None,
        color=given.color or "auto",
    )


def base_url(text: str) -> str:
    """Read `http://host:port` or `host:port`; raises UsageFault when it is neither."""
    url = text if "://" in text else f"http://{text}"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageFault(_no_url(text)) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise UsageFault(_no_url(text))
    if parts.query or parts.fragment:
        raise UsageFault(_no_url(text))
    return url.rstrip("/")


def _no_url(text: str) -> str:
    return f"{text!r} is not the URL of a control plane, such as {DEFAULT_PROXY_URL}"
