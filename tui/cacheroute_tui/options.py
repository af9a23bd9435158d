"""What the console is started with, as values: whom it looks at, how often, and how it looks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cacheroute.console.rules import RULES, Rules
from cacheroute_cli.config.options import MAX_SCREEN_INTERVAL_S as MAX_INTERVAL_S
from cacheroute_cli.config.options import MIN_SCREEN_INTERVAL_S as MIN_INTERVAL_S

__all__ = ["INTERVALS_S", "MAX_INTERVAL_S", "MIN_INTERVAL_S", "Target", "TuiOptions"]

INTERVALS_S: tuple[float, ...] = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
"""The steps of + and -."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One Proxy that can be looked at."""

    proxy_url: str
    name: str | None = None
    """Of its context; None where the address was typed."""
    label: str | None = None
    """Shown instead of the name."""
    token: str | None = field(default=None, repr=False)
    token_origin: str | None = None
    """Where it comes from, as people know it."""
    token_file: Path | None = None
    """Where it can be read anew; None where it cannot have changed."""
    readonly: bool = False
    """Whether its context refuses changes."""
    timeout_s: float = 5.0
    rules: Rules = RULES

    @property
    def title(self) -> str:
        """What the header calls it."""
        return self.label or self.name or "proxy"


@dataclass(frozen=True, slots=True, kw_only=True)
class TuiOptions:
    """Everything that was said about the console before it began."""

    target: Target
    targets: Sequence[Target] = ()
    """All contexts there are, for the menu."""
    screen: str = "overview"
    interval_s: float = 1.0
    theme: str = "dark"
    """A palette's name; `auto` is resolved before."""
    write: bool = False
    """Whether changes are allowed at all."""
    mouse: bool = True
    ascii: bool = False
    clipboard: str = "auto"
    """`auto`, `osc52`, `native` or `file`."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Other keys for actions, by the id of the binding."""
    columns: Sequence[str] = ()
    """Columns of the Instances, by their keys; none is the usual ones."""
    doubts: Sequence[str] = ()
    """What of the configuration cannot be used, a sentence each."""

    @property
    def may_write(self) -> bool:
        """Whether this target takes changes from here."""
        return self.write and not self.target.readonly
