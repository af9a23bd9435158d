"""A bug ends the console: the terminal is given back, and whoever runs it tells what it was."""

from textual.app import App


class Falling(App[int]):
    """Keeps the bug that ended it."""

    @property
    def bug(self) -> Exception | None:
        """What nobody caught."""
        return self._exception

    def _fatal_error(self) -> None:
        # The toolkit's own prints every local variable: thousands of lines, with the token of the
        # control plane among them, on a screen that may be shared.
        self._close_messages_no_wait()
