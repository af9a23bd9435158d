"""What the terminal of a running console shows, for tests that hold its pilot."""

from textual.pilot import Pilot

from cacheroute_tui.app import ConsoleApp
from tests.tui.showing import text_of


def seen(pilot: Pilot[int]) -> str:
    """Return it line by line, without colours."""
    assert isinstance(pilot.app, ConsoleApp)
    return text_of(pilot.app)
