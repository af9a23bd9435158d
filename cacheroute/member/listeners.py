"""The sockets that a program of ours listens on, or one sentence about why it cannot have them."""

import socket

from cacheroute.dataplane.sockets import bind
from cacheroute.formats.address import Address


class CannotListen(Exception):
    """An address is taken, forbidden or not ours; the message says which address, and why."""

    def __init__(self, where: Address, error: OSError | UnicodeError) -> None:
        why = error.strerror if isinstance(error, OSError) else None
        super().__init__(f"cannot listen on {where.authority}: {why or error}")


def listeners_at(*addresses: Address) -> list[list[socket.socket]]:
    """Bind every address, port 0 at a free one; raises CannotListen, and none is bound then."""
    bound: list[list[socket.socket]] = []
    for where in addresses:
        try:
            bound.append(bind(where.host, where.port))
        except (OSError, UnicodeError) as error:  # a name too long for DNS is a UnicodeError
            for listener in (one for listeners in bound for one in listeners):
                listener.close()
            raise CannotListen(where, error) from error
    return bound
