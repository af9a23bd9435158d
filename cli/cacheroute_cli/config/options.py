"""Every key of the configuration: what it may be, its default, and the variables that set it.

The reader, `config show`, the schema and the file that `config init` writes are made of this
table and know no key of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cacheroute_cli.config import kinds
from cacheroute_cli.config.kinds import Kind
from cacheroute_cli.context import (
    DEFAULT_INTERVAL_S,
    DEFAULT_PROXY_URL,
    DEFAULT_TIMEOUT_S,
    MAX_INTERVAL_S,
    MAX_TIMEOUT_S,
    MIN_INTERVAL_S,
)

MIN_SCREEN_INTERVAL_S = 0.5
MAX_SCREEN_INTERVAL_S = 10.0
"""The console draws whole screens; a watch may look more often, or hardly ever."""
KEYS = "keys"
"""Table of key bindings, whose keys are the ids of actions."""
CONTEXTS = "contexts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One key."""

    key: str
    """Its path in a file: `tui.interval`."""
    kind: Kind
    doc: str
    """What it means, in a sentence."""
    default: object = None
    """None is nothing."""
    variable: str | None = None
    published: str | None = None
    """Variable of the same meaning that the published programs read; it ranks lower."""
    of_context: bool = False
    """Whether a context may have its own."""
    in_files: bool = True
    """Whether a file may say it."""


# The two others are for lists only, and a default must suit every command.
_FORMATS = ("table", "plain", "wide", "json", "jsonl")
_COLORS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_THEMES = ("auto", "dark", "light", "ansi", "cb", "mono", "high-contrast")

OPTIONS: Mapping[str, Option] = {
    option.key: option
    for option in (
        Option(
            key="current_context",
            kind=kinds.text(),
            doc="The context that holds where none is named.",
            variable="CACHEROUTE_CONTEXT",
        ),
        Option(
            key="proxy_url",
            kind=kinds.url(),
            doc="Control plane of the Proxy.",
            default=DEFAULT_PROXY_URL,
            variable="CACHEROUTE_PROXY_URL",
            published="PROXY_CP_URL",
            of_context=True,
        ),
        Option(
            key="scheduler_url",
            kind=kinds.url(),
            doc="Control plane of the Scheduler; without it the Proxy is asked for its own.",
            variable="CACHEROUTE_SCHEDULER_URL",
            published="SCHEDULER_CP_URL",
            of_context=True,
        ),
        Option(
            key="readonly",
            kind=kinds.flag(),
            doc="Refuse every command that changes something at the Proxy.",
            default=False,
            variable="CACHEROUTE_READONLY",
            of_context=True,
        ),
        Option(
            key="proxy_id",
            kind=kinds.text(),
            doc="The Proxy that `scheduler` shows of those that a Scheduler lists.",
            published="PROXY_ID",
            in_files=False,
        ),
        Option(
            key="scheduler_list_path",
            kind=kinds.text(),
            doc="Where the Scheduler lists its Proxies.",
            published="SCHEDULER_PROXY_LIST_PATH",
            in_files=False,
        ),
        Option(
            key="timeout",
            kind=kinds.number(0.001, MAX_TIMEOUT_S),
            doc="Longest wait for an answer, in seconds.",
            default=DEFAULT_TIMEOUT_S,
        ),
        Option(
            key="output",
            kind=kinds.choice(*_FORMATS),
            doc="What to print where -o does not say; nothing is what suits the reader.",
            variable="CACHEROUTE_OUTPUT",
        ),
        Option(
            key="color",
            kind=kinds.choice("auto", "always", "never"),
            doc="When to colour.",
            default="auto",
        ),
        Option(
            key="ascii",
            kind=kinds.flag(),
            doc="Write signs as letters; nothing is what suits the terminal.",
            variable="CACHEROUTE_ASCII",
        ),
        Option(
            key="tui.interval",
            kind=kinds.number(MIN_INTERVAL_S, MAX_INTERVAL_S),
            doc="Time between two looks of a screen or a watch, in seconds.",
            default=DEFAULT_INTERVAL_S,
            variable="CACHEROUTE_INTERVAL",
        ),
        Option(
            key="tui.theme",
            kind=kinds.choice(*_THEMES),
            doc="Colours of the screen; auto asks the terminal.",
            default="auto",
            variable="CACHEROUTE_THEME",
        ),
        Option(
            key="tui.columns",
            kind=kinds.texts(),
            doc="Columns of the Instances, in order; nothing is the usual ones.",
        ),
        Option(
            key="tui.mouse",
            kind=kinds.flag(),
            doc="Take clicks; without it the terminal selects text as ever.",
            default=True,
        ),
        Option(
            key="tui.clipboard",
            kind=kinds.choice("auto", "osc52", "native", "file"),
            doc="How text is copied.",
            default="auto",
            variable="CACHEROUTE_CLIPBOARD",
        ),
        Option(
            key="alerts.skew_ratio",
            kind=kinds.number(1, 1000),
            doc="Inflight over so many times the median is skewed …",
            default=1.5,
        ),
        Option(
            key="alerts.skew_min",
            kind=kinds.number(0),
            doc="… if it is so many requests more.",
            default=3,
        ),
        Option(
            key="alerts.gpu",
            kind=kinds.band(0, 100),
            doc="GPU use to warn at, and to be bad, in percent.",
            default=(75, 95),
        ),
        Option(
            key="alerts.mem",
            kind=kinds.band(0, 100),
            doc="Host memory use to warn at, and to be bad, in percent.",
            default=(80, 92),
        ),
        Option(
            key="alerts.report_age_s",
            kind=kinds.number(0),
            doc="Age from which a resource report says little about now, in seconds.",
            default=10,
        ),
        Option(
            key="alerts.backlog_ms",
            kind=kinds.number(0),
            doc="Predicted wait of a new request to warn at, in milliseconds.",
            default=5000,
        ),
        Option(
            key="alerts.probe_s",
            kind=kinds.number(0),
            doc="Time without an answered probe to warn at, of a static Instance, in seconds.",
            default=90,
        ),
        Option(
            key="alerts.hung_s",
            kind=kinds.number(0),
            doc="Time without any answer to warn at while requests wait, in seconds.",
            default=60,
        ),
        Option(
            key="alerts.kdn_s",
            kind=kinds.number(0),
            doc="Time without any answer of a knowledge node to warn at, in seconds.",
            default=10,
        ),
        Option(
            key="alerts.ttft_ratio",
            kind=kinds.number(1, 1000),
            doc="Time to first token over so many times the median is slow.",
            default=1.5,
        ),
    )
}
"""By their path, in the order in which they are shown."""

CONTEXT_OPTIONS: Mapping[str, Option] = {
    **{key: option for key, option in OPTIONS.items() if option.of_context},
    **{
        option.key: option
        for option in (
            Option(key="label", kind=kinds.text(40), doc="What is shown instead of the name."),
            Option(key="color", kind=kinds.choice(*_COLORS), doc="Colour of the label."),
            Option(
                key="token_file",
                kind=kinds.text(4096),
                doc="File with the token of this Proxy's control plane; only it gets it.",
            ),
        )
    },
}
"""Keys that a context may have."""

TABLES = tuple(dict.fromkeys(key.partition(".")[0] for key in OPTIONS if "." in key))
"""Names of the tables that hold keys: tui, alerts."""
