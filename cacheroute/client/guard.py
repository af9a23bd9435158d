"""The one place where a client refuses to change anything, whoever asked it to.

A screen may forget to check, and so may a command; a client that was built to look only sends
nothing that could change something.
"""

from cacheroute.client.faults import ReadOnly


class MutationGuard:
    """Lets questions pass, and changes only where they are allowed."""

    def __init__(self, *, readonly: bool) -> None:
        self.readonly = readonly
        """Whether only GET passes."""

    def check(self, method: str, url: str) -> None:
        """Let a request pass; raises ReadOnly before anything is sent."""
        if self.readonly and method != "GET":
            raise ReadOnly(url=url)
