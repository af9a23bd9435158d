"""One question to a control plane; all that are asked stand in `asks`."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(Generic[T]):
    """One question."""

    path: str
    """With its query, if it has one."""
    reply: type[T]
    """What the body of a 200 is read as."""
    body: bytes | None = None
    """JSON to send; None makes it a GET."""

    @property
    def method(self) -> str:
        """GET, or POST when there is something to send."""
        return "GET" if self.body is None else "POST"
