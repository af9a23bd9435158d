"""What a command knows of its surroundings: which Proxy, how patient, what to print.

An option outranks the environment, which outranks the configuration and the default; an
option after the command outranks the same one before it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from cacheroute_cli.diagnostics import UsageFault, detail

Format = Literal["table", "plain", "wide", "json", "jsonl", "csv", "name"]
Color = Literal["auto", "always", "never"]

DEFAULT_PROXY_URL = "http://127.0.0.1:8002"
DEFAULT_TIMEOUT_S = 5.0
MAX_TIMEOUT_S = 86_400.0
DEFAULT_INTERVAL_S = 1.0
MIN_INTERVAL_S = 0.2
MAX_INTERVAL_S = 3_600.0
_NO_LOCALE = ("C", "POSIX")
TOKEN_VARIABLE = "CACHEROUTE_TOKEN"  # noqa: S105 - the name of a variable


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The common options as typed; None is not typed."""

    output: Format | None = None
    proxy_url: str | None = None
    timeout_s: float | None = None
    token: str | None = None
    color: Color | None = None
    ascii: bool | None = None
    context: str | None = None
    """Name of the context that is meant."""
    scheduler_url: str | None = None
    config_file: str | None = None
    """The configuration of the console to read in the place of the user's."""
    no_input: bool | None = None
    quiet: bool | None = None
    verbose: bool | None = None
    debug: bool | None = None
    columns: str | None = None
    """This one and those below are for lists and watches only."""
    headers: bool | None = None
    watch: bool | None = None
    interval_s: float | None = None

    def over(self, earlier: "Given") -> "Given":
        """Return these options, filled up from those typed before the command."""
        typed = {name: getattr(self, name) for name in _OPTIONS}
        return replace(earlier, **{k: value for k, value in typed.items() if value is not None})

    @property
    def for_lists(self) -> tuple[str, ...]:
        """The options that were typed and mean something to lists and watches only."""
        return tuple(name for name in _FOR_LISTS if getattr(self, name) is not None)


_OPTIONS = tuple(field.name for field in fields(Given))
_FOR_LISTS = ("columns", "headers", "watch", "interval_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Everything that is the same for all commands."""

    output: Format | None = None
    """None is what suits the reader: a table for people, plain lines for a pipe."""
    proxy_url: str = DEFAULT_PROXY_URL
    """Control plane of the Proxy in question."""
    proxy_url_is_default: bool = True
    """Whether nobody said which Proxy is meant."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    """Longest wait for one answer."""
    token: str | None = None
    """For the Proxy in question."""
    own_token: str | None = None
    """Typed, or from its variable: what a Proxy that is started here is to ask for."""
    token_origin: str | None = None
    """`--token`, its variable, or the file that a context names."""
    token_file: Path | None = None
    """Where it can be read anew."""
    color: Color = "auto"
    ascii: bool = False
    """Whether signs are letters."""
    name: str | None = None
    """Of this context in the configuration; None where there is none."""
    label: str | None = None
    """What is shown instead of its name."""
    label_color: str | None = None
    scheduler_url: str | None = None
    """Control plane of a Scheduler to ask; None where only the Proxy knows its own."""
    scheduler_list_path: str | None = None
    """Where that Scheduler lists its Proxies; None is the usual path."""
    proxy_id: str | None = None
    """Name of the Proxy at its Scheduler, where somebody has said it."""
    alerts: Mapping[str, Any] = field(default_factory=dict)
    """Thresholds of alerts by their key in a file; `config.rules` makes rules of them."""
    interval_s: float = DEFAULT_INTERVAL_S
    """Time between two looks of a watch."""
    readonly: bool = False
    """Whether commands that change something are refused."""
    no_input: bool = False
    """Whether nobody is there to be asked."""

    @property
    def as_json(self) -> bool:
        """Whether a program reads what is printed."""
        return self.output in ("json", "jsonl")


def resolve(
    given: Given, environ: Mapping[str, str] | None = None, *, asks: bool = True
) -> Context:
    """Fill in what was not typed; raises UsageFault for what cannot be.

    A command that `asks` nobody names no Proxy either.
    """
    from cacheroute_cli.config.load import load
    from cacheroute_cli.config.tokens import token_for

    environ = os.environ if environ is None else environ
    if given.timeout_s is not None and not 0 < given.timeout_s <= MAX_TIMEOUT_S:
        raise UsageFault(
            f"--timeout must be a positive number of seconds, at most {MAX_TIMEOUT_S:g}, "
            f"not {given.timeout_s:g}"
        )
    held = load(given, environ).required()
    value = {key: one.value for key, one in held.values.items()}
    label, color = (held.of_context.get(key) for key in ("label", "color"))
    if asks:
        detail(f"proxy {value['proxy_url']} ({held.values['proxy_url'].origin})")
    if held.context is not None:
        detail(f"context {held.context} ({held.context_origin})")
    token = token_for(held, typed=given.token, environ=environ)
    return Context(
        output=value["output"],
        proxy_url=value["proxy_url"],
        proxy_url_is_default=held.values["proxy_url"].origin == "default",
        scheduler_url=value["scheduler_url"],
        proxy_id=value["proxy_id"],
        scheduler_list_path=value["scheduler_list_path"],
        alerts={
            key.partition(".")[2]: said
            for key, said in value.items()
            if key.startswith("alerts.") and said is not None
        },
        timeout_s=value["timeout"],
        interval_s=value["tui.interval"],
        token=None if token is None else token.value,
        token_origin=None if token is None else token.origin,
        token_file=None if token is None else token.file,
        own_token=given.token or environ.get(TOKEN_VARIABLE) or None,
        color=value["color"],
        ascii=is_ascii_terminal(environ) if value["ascii"] is None else value["ascii"],
        name=held.context,
        label=label.value if label else None,
        label_color=color.value if color else None,
        readonly=value["readonly"],
        no_input=bool(given.no_input),
    )


def is_ascii_terminal(environ: Mapping[str, str]) -> bool:
    """Whether the terminal or the locale shows ASCII only."""
    if environ.get("TERM") == "linux":
        return True
    outranking = environ.get("LC_ALL")
    if outranking:
        return outranking in _NO_LOCALE
    # Python itself sets LC_CTYPE to C.UTF-8 where the locale is C.
    said = environ.get("LC_CTYPE", "C.UTF-8")
    return environ.get("LANG") in _NO_LOCALE and said in (*_NO_LOCALE, "C.UTF-8")


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
    if parts.query or parts.fragment or not _can_be_looked_up(parts.hostname):
        raise UsageFault(_no_url(text))
    return url.rstrip("/")


def _can_be_looked_up(host: str) -> bool:
    # The library that looks names up fails in words of its own where a label has no such length.
    return all(0 < len(label) < 64 for label in host.removesuffix(".").split("."))


def _no_url(text: str) -> str:
    return f"{text!r} is not the URL of a control plane, such as {DEFAULT_PROXY_URL}"
