"""The screen of topology: who sends to whom, and which knowledge node is near which Instance."""

from collections.abc import Sequence

from textual.app import ComposeResult

from cacheroute.console.store import Seen, Snapshot
from cacheroute_tui.keymap import Key
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.screens.topology_drawing import drawn_chain, drawn_links, is_faulty
from cacheroute_tui.widgets.later_lines import LaterLines, Part
from cacheroute_tui.widgets.lines import Span
from cacheroute_tui.widgets.pager import Pager


class Topology(ConsoleScreen):
    """Client, Scheduler, Proxy, Instances, and the links to knowledge nodes."""

    NAME, TITLE, NUMBER, SHORT = "topology", "Topology", 6, "Topo"
    NEEDS = frozenset({"topology"})
    KEYS = (
        Key(id="topology.faults", label="Faults", action="faults", rank=3,
            doc="Show only links and Instances that something is wrong with, or all again."),
    )  # fmt: skip
    AUTO_FOCUS = "Pager"

    def __init__(self) -> None:
        super().__init__()
        self.is_faults_only = False

    def body(self) -> ComposeResult:
        """Make the drawing."""
        yield Pager(id="drawing", empty_text="connecting …")

    def draw(self, snapshot: Snapshot) -> None:
        """Draw a snapshot."""
        pager = self.query_one(Pager)
        look = snapshot.look
        if look is None:
            pager.empty_text = snapshot.connection.trouble or "connecting …"
            pager.show(())
            return
        look = look.later(self.since_s())
        lines: list[Part] = [*drawn_chain(look, self.console.target.proxy_url), ()]
        why = self.missing("topology")
        if why is not None:
            lines.append((Span(f" links to knowledge nodes: {why}", "dim"),))
        else:
            lines += drawn_links(look, faults_only=self.is_faults_only)
        pager.show(LaterLines(lines, is_grey=self.is_stale))

    def beside_tabs(self) -> Sequence[Span]:
        """Say whether only faults are shown."""
        return [Span("faults only", "accent")] if self.is_faults_only else []

    def action_faults(self) -> None:
        """Show only what something is wrong with, or all again."""
        self.is_faults_only = not self.is_faults_only
        self.redraw()

    def selected_json(self) -> object | None:
        """Return the links that are shown."""
        look = self.snapshot.look
        return None if look is None else _shown(look, self.is_faults_only)

    def explained(self) -> tuple[str, ...]:
        """Return what the columns of links mean."""
        return ("reported_by", "bandwidth_mbps", "latency_ms", "is_best", "kdn")


def _shown(look: Seen, faults_only: bool) -> object:
    return [link for link in look.links if not faults_only or is_faulty(link)]
