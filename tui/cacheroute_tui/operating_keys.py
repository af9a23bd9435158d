"""Keys of every screen that act: on what is selected, and on the console itself."""

from cacheroute_tui.keymap import Key

OPERATING_KEYS: tuple[Key, ...] = (
    Key(id="command", label="Cmd", action="app.command", rank=4,
        doc="Type a command: everything that follows 'cacheroute' in a shell."),
    Key(id="palette", label="Palette", action="app.palette",
        doc="Search for a screen, an action or a command by a part of its name."),
    Key(id="copy.id", label="Copy", action="app.copy_id", rank=7,
        doc="Copy the name of what is selected; of all that is marked, one a line."),
    Key(id="copy.json", label="Copy JSON", action="app.copy_json",
        doc="Copy all that is known of what is selected; of what is marked a list, of a page "
        "the page."),
    Key(id="silence", label="Silence", action="app.silence",
        doc="List the alerts, to silence one until it ends, to count it again, or to explain it."),
    Key(id="screenshot", label="SVG", action="app.picture",
        doc="Keep a picture of the screen as SVG, and say where."),
    Key(id="drain", label="Drain", action="app.drain", rank=7, writes=True,
        doc="Let the Instance under the cursor, or all that are marked, take no new requests."),
    Key(id="undrain", label="Undrain", action="app.undrain", rank=8, writes=True,
        doc="Let a drained Instance, or all that are marked, take requests again."),
)  # fmt: skip
"""Everywhere; a screen that has keys of its own under these names keeps its own."""
