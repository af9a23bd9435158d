"""The field for weights of a what-if: the map follows while it is typed, and nothing else does."""

from textual.app import ComposeResult
from textual.widgets import Input, Static

from cacheroute_tui.widgets.filter_line import FilterLine


class WeightLine(FilterLine):
    """`inflight=0.5 ready=2`, above the footer; there only while it is used."""

    def compose(self) -> ComposeResult:
        """Make the field."""
        yield Static("w", id="filter-sign", markup=False)
        yield Input(
            id="filter-field", compact=True, select_on_focus=False,
            placeholder="inflight=0.5 decode=2, only here; the Proxy is not told",
        )  # fmt: skip
        yield Static("", id="filter-told", markup=False)
