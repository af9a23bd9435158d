"""What screens with charts have in common: how long a time they show, and how often it is drawn."""

from collections.abc import Callable, Sequence

from cacheroute.console.courses import WINDOWS_S
from cacheroute.core.clock import Instant
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.widgets.charts import Chart, Course


class Windowed(ConsoleScreen):
    """A screen with charts; its `KEYS` hold CHARTING."""

    window_s: int = WINDOWS_S[0]
    """What the charts show, in seconds."""

    def draw_charts(self) -> None:
        """Draw the charts that are to be seen."""

    def chart_now(self) -> Instant:
        """Return where charts end: now, or when what is shown was held."""
        look = self.snapshot.look
        if self.console.is_paused and look is not None:
            return look.taken
        return self.console.clock.now()

    def draw_chart(
        self, chart: Chart, labels: Sequence[str], courses: Callable[[float], Sequence[Course]]
    ) -> None:
        """Draw one, if anything would change; `courses` is asked for values since a moment."""
        now = self.chart_now()
        if not chart.is_due(now.mono_s, self.window_s, labels):
            return
        # A little more than is seen, so that the first column has what held then.
        since_s = now.mono_s - self.window_s * 1.1
        chart.show(
            courses(since_s),
            window_s=self.window_s,
            now=now,
            usual_s=self.snapshot.connection.pace_s,
            is_stale=self.is_stale,
        )

    def action_window(self, steps: int) -> None:
        """Show a longer or a shorter time."""
        at = WINDOWS_S.index(self.window_s) + steps
        self.window_s = WINDOWS_S[min(max(0, at), len(WINDOWS_S) - 1)]
        self.draw_charts()

    def history_cleared(self) -> None:
        """Draw that the history begins anew."""
        for chart in self.query(Chart):
            chart.forget()
        super().history_cleared()

    def on_screen_resume(self) -> None:
        """Draw what has come while another screen was on top."""
        for chart in self.query(Chart):
            chart.forget()
        super().on_screen_resume()
