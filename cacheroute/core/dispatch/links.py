"""The transfers of KV blobs from a knowledge node to an Instance, link by link.

A reservation predicts how busy a link is and holds nobody up: transfers are sent when they
are ready. What a transfer really took corrects the link in both directions at once, and a
link with nothing outstanding is free, whatever was predicted for it.
"""

from typing import NamedTuple

from cacheroute.core.dispatch.succession import Span, Succession

LinkKey = tuple[str, str]
"""The id of the Instance and the `host:port` of the knowledge node."""


class LinkReservation(Span):
    """One transfer that is under way or about to be."""

    __slots__ = ("key", "line", "wait_ms")

    def __init__(
        self, key: LinkKey, line: "Succession[LinkReservation]", transfer_ms: float
    ) -> None:
        Span.__init__(self, transfer_ms / 1000)
        self.key = key
        self.line = line
        """The transfers of the link, this one among them."""
        self.wait_ms = 0.0
        """How long the link was predicted to be taken by others, when it was reserved."""


class Outstanding(NamedTuple):
    """The transfers from one knowledge node, over all its links."""

    running: int
    """One for each link in use."""
    waiting: int
    """Those that are predicted to begin behind others on their link."""


class Links:
    """Every link that has a transfer outstanding."""

    __slots__ = ("_by_instance", "version")

    def __init__(self) -> None:
        self._by_instance: dict[str, dict[str, Succession[LinkReservation]]] = {}
        self.version = 0
        """Moves with every transfer that comes or goes."""

    def __len__(self) -> int:
        return sum(len(lines) for lines in self._by_instance.values())

    def reserve(self, key: LinkKey, now_mono_s: float, transfer_ms: float) -> LinkReservation:
        """Count a transfer that is sent now; its `start_s` and `end_s` are predictions."""
        instance_id, kdn_address = key
        lines = self._by_instance.setdefault(instance_id, {})
        line = lines.get(kdn_address)
        if line is None:
            line = lines[kdn_address] = Succession()
        reservation = LinkReservation(key, line, transfer_ms)
        line.add(reservation, now_mono_s)
        self.version += 1
        reservation.wait_ms = (reservation.start_s - now_mono_s) * 1000
        return reservation

    def done(self, reservation: LinkReservation, now_mono_s: float) -> None:
        """Forget a transfer that is over, has failed or was given up; again does nothing."""
        line = reservation.line
        if not line.remove(reservation, now_mono_s):
            return
        self.version += 1
        if line:
            return
        instance_id, kdn_address = reservation.key
        lines = self._by_instance.get(instance_id, {})
        # After `drop_instance` another line may have taken the place of this one.
        if lines.get(kdn_address) is line:
            del lines[kdn_address]
            if not lines:
                del self._by_instance[instance_id]

    def free_in_ms(self, key: LinkKey, now_mono_s: float) -> float:
        """Return how long a new transfer would find the link taken; 0 when it is idle.

        Text that crosses the link is delayed for as long: transfers do not wait for each other,
        so all that are outstanding are on the link together until the last is over.
        """
        instance_id, kdn_address = key
        line = self._by_instance.get(instance_id, {}).get(kdn_address)
        return 0.0 if line is None else line.busy_for_s(now_mono_s) * 1000

    def in_use(self) -> dict[str, int]:
        """Return how many links have a transfer outstanding, by Instance; without idle ones."""
        return {instance_id: len(lines) for instance_id, lines in self._by_instance.items()}

    def by_node(self) -> dict[str, Outstanding]:
        """Count what is outstanding, by the address of the node; without idle ones."""
        found: dict[str, Outstanding] = {}
        for lines in self._by_instance.values():
            for kdn_address, line in lines.items():
                running, waiting = found.get(kdn_address, (0, 0))
                found[kdn_address] = Outstanding(running + 1, waiting + len(line) - 1)
        return found

    def drop_instance(self, instance_id: str) -> None:
        """Forget the links of an Instance that has left; its transfers may still end."""
        self.version += 1
        self._by_instance.pop(instance_id, None)
