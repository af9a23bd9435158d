"""Whom a knowledge node connects to on request: its callers name addresses, and passwords.

Without a list it is this machine alone; with one, nothing but what is on it.
"""

from collections.abc import Sequence

from cacheroute.demo.kdn.refused import Refused
from cacheroute.formats.address import Address, is_loopback, parse_host


class Allowed:
    """One list of addresses, for one kind of peer."""

    def __init__(self, listed: Sequence[Address], *, what: str, option: str) -> None:
        self._listed = frozenset(listed)
        self._what = what
        self._option = option

    def check(self, host: str, port: int) -> Address:
        """Return an address that may be connected to; raises Refused."""
        try:
            address = Address(parse_host(host), port)
        except ValueError as error:
            raise Refused(400, f"{self._what} cannot be: {error}") from None
        if self._listed:
            if address in self._listed:
                return address
            listed = ", ".join(sorted(map(str, self._listed)))
            raise Refused(403, f"{self._what} {address} is not on the list: {listed}")
        if not is_loopback(address.host):
            raise Refused(
                403,
                f"{self._what} {address} is another machine, and no {self._option} allows it",
            )
        return address
