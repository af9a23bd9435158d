"""A transport whose close does not destroy what was said last.

Closing a socket with unread input makes the kernel send a reset, and a reset takes away what
the client has not read yet: the very answer that says why. So our half is closed first, what
still comes is read and dropped, and only then all is closed.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

LINGER_S = 2.0
"""Longest time for a client to stop sending once it has been told that it is over."""


class LingeringTransport(asyncio.Transport):
    """Stands in for a connection's own transport; `is_over` must be asked of all that comes."""

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        may_be_unread: Callable[[], bool],
    ) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._may_be_unread = may_be_unread
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_over(self) -> bool:
        """Whether what comes now is to be dropped."""
        return self._timer is not None

    def close(self) -> None:
        """Close, at once only where nothing can be unread."""
        transport = self._transport
        if self.is_closing():
            return
        if not self._may_be_unread() or not transport.can_write_eof():
            transport.close()
            return
        self._timer = self._loop.call_later(LINGER_S, transport.abort)
        transport.write_eof()
        transport.resume_reading()

    def lost(self) -> None:
        """The connection is gone."""
        if self._timer is not None:
            self._timer.cancel()

    def is_closing(self) -> bool:
        """Whether nothing can be said any more."""
        return self.is_over or self._transport.is_closing()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send, unless it is over."""
        if not self.is_over:
            self._transport.write(data)

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        """Send, unless it is over."""
        if not self.is_over:
            self._transport.writelines(list_of_data)

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()

    def pause_reading(self) -> None:
        """Read no more for now."""
        if not self.is_over:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        self._transport.resume_reading()

    def get_write_buffer_size(self) -> int:
        """Return how much has not been sent yet, in bytes."""
        return self._transport.get_write_buffer_size()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return what is known of the connection."""
        return self._transport.get_extra_info(name, default)
