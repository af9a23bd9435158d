"""A request that a knowledge node turns down: a status, and one sentence.

The sentence stands under `error` and under `detail`, as the published node uses the one for
lookups and the other for injections.
"""

import msgspec

JSON_HEADERS = ((b"content-type", b"application/json"),)


class Refused(Exception):
    """An error answer; raised where it is found, rendered where the request came in."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message

    @property
    def body(self) -> bytes:
        """The JSON object that says it."""
        return msgspec.json.encode({"ok": False, "error": self.message, "detail": self.message})
