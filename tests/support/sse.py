"""Server-sent events as a strict reader of the standard sees them, for the tests' own use."""

import json
import re
from dataclasses import dataclass
from typing import Any

_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Event:
    """One dispatched event."""

    name: bytes
    data: bytes

    def json(self) -> Any:
        """Return the data, read as JSON."""
        return json.loads(self.data)


def events(body: bytes) -> list[Event]:
    """Return the events of a whole stream; one that is not ended by a blank line is none."""
    found: list[Event] = []
    name, data = b"message", list[bytes]()
    for line in _LINE_END.split(body.removeprefix(b"\xef\xbb\xbf"))[:-1]:
        if not line:
            if data:
                found.append(Event(name, b"\n".join(data)))
            name, data = b"message", []
            continue
        key, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if key == b"data":
            data.append(value)
        elif key == b"event":
            name = value
    return found


def error_of(event: Event) -> dict[str, Any] | None:
    """Return the error object of an event that carries one."""
    try:
        value = event.json()
    except ValueError:
        return None
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, dict) else None
