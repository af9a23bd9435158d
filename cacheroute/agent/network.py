"""Which interfaces carry this host's traffic, and how much: the busiest comes first.

Bridges, container links and their like repeat traffic that a real interface carries, so
they count only where nothing else is to be seen, as inside a container.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cacheroute.core.clock import Instant

SYS_CLASS_NET = Path("/sys/class/net")
MAX_INTERFACES = 64
RESCAN_S = 60.0
HALF_LIFE_S = 30.0
_VIRTUAL = re.compile(
    r"^(lo$|docker|veth|virbr|br-|br\d|ifb|dummy|tun|tap|cali|cilium|lxc|flannel|cni|kube|"
    r"vxlan|vnet|wg|zt|tailscale|podman|nerdctl|weave|ovs|gre|sit|ip6|utun|nodelocaldns)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteCounters:
    """What one interface has moved since it exists, in bytes."""

    rx_bytes: int
    """Received."""
    tx_bytes: int
    """Sent."""

    @property
    def total(self) -> int:
        """Both ways."""
        return self.rx_bytes + self.tx_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceReading:
    """One interface over the last interval."""

    name: str
    """As the kernel calls it."""
    rx_mbps: float | None
    """Received, in 10^6 bit/s; None until two samples exist."""
    tx_mbps: float | None
    """Sent, in 10^6 bit/s; None until two samples exist."""
    speed_mbps: int | None
    """What the link can do, in 10^6 bit/s; None when the driver does not say."""


def real_interfaces(names: Iterable[str], sys_class_net: Path) -> list[str]:
    """Choose the interfaces that carry traffic of their own, sorted by name.

    Hardware and bonds of hardware where there are any; else everything that is neither
    loopback nor named like a bridge, a tunnel or a container's link.
    """
    known = sorted(set(names))
    hardware = [name for name in known if _is_hardware(sys_class_net / name)]
    own = [name for name in hardware if _carrier_of(sys_class_net / name) not in hardware]
    return (own or [name for name in known if not _VIRTUAL.match(name)])[:MAX_INTERFACES]


def link_speed_mbps(interface: Path) -> int | None:
    """Read the speed of a link; None when it is down, virtual or silent about it."""
    try:
        speed = int((interface / "speed").read_text("ascii"))
    except (OSError, ValueError):
        return None
    return speed if speed > 0 else None


class NetworkMeter:
    """Turns byte counters into rates, and knows which interface was busy lately."""

    def __init__(self, sys_class_net: Path = SYS_CLASS_NET) -> None:
        self._sys = sys_class_net
        self._seen: frozenset[str] = frozenset()
        self._scanned_s = float("-inf")
        self._speeds: dict[str, int | None] = {}
        """The chosen interfaces; looking them up costs more than all the rest."""
        self._before: Mapping[str, ByteCounters] = {}
        self._before_s = float("-inf")
        self._activity: dict[str, float] = {}

    def sample(
        self,
        counters: Mapping[str, ByteCounters],
        now: Instant,
    ) -> tuple[InterfaceReading, ...]:
        """Read every chosen interface, busiest first."""
        self._choose(counters, now.mono_s)
        elapsed_s = now.mono_s - self._before_s
        chosen = [name for name in self._speeds if name in counters]
        moved = {name: self._moved(name, counters[name]) for name in chosen}
        fade = 0.5 ** (elapsed_s / HALF_LIFE_S)
        # Recent bytes and not the rate of one interval: the order must not flicker.
        self._activity = {
            name: self._activity.get(name, 0.0) * fade + (by.total if by else 0)
            for name, by in moved.items()
        }
        self._before, self._before_s = dict(counters), now.mono_s
        chosen.sort(key=lambda name: (-self._activity[name], -counters[name].total, name))
        return tuple(
            InterfaceReading(
                name=name,
                rx_mbps=_mbps(by.rx_bytes, elapsed_s) if (by := moved[name]) else None,
                tx_mbps=_mbps(by.tx_bytes, elapsed_s) if by else None,
                speed_mbps=self._speeds[name],
            )
            for name in chosen
        )

    def _choose(self, counters: Mapping[str, ByteCounters], now_s: float) -> None:
        names = frozenset(counters)
        if names != self._seen or now_s - self._scanned_s > RESCAN_S:
            chosen = real_interfaces(names, self._sys)
            self._speeds = {name: link_speed_mbps(self._sys / name) for name in chosen}
            self._seen, self._scanned_s = names, now_s

    def _moved(self, name: str, after: ByteCounters) -> ByteCounters | None:
        before = self._before.get(name)
        if before is None:
            return None
        moved = ByteCounters(
            rx_bytes=after.rx_bytes - before.rx_bytes,
            tx_bytes=after.tx_bytes - before.tx_bytes,
        )
        # Counters start again when a driver is reloaded; that interval is not known.
        return moved if min(moved.rx_bytes, moved.tx_bytes) >= 0 else None


def _is_hardware(interface: Path) -> bool:
    return (interface / "device").exists() or (interface / "bonding").is_dir()


def _carrier_of(interface: Path) -> str | None:
    """Name the bond (or bridge) that this interface is a part of."""
    try:
        return (interface / "master").readlink().name
    except OSError:
        return None


def _mbps(moved_bytes: int, elapsed_s: float) -> float | None:
    return round(moved_bytes * 8 / 1e6 / elapsed_s, 3) if elapsed_s > 0 else None
