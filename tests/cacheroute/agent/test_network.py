from pathlib import Path

import pytest

from cacheroute.agent.network import (
    MAX_INTERFACES,
    ByteCounters,
    InterfaceReading,
    NetworkMeter,
    link_speed_mbps,
    real_interfaces,
)
from cacheroute.core.clock import Instant


class SysTree:
    """A /sys/class/net of our own."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def add(
        self,
        name: str,
        *,
        device: bool = False,
        bond: bool = False,
        master: str | None = None,
        speed: str | None = None,
    ) -> None:
        folder = self.root / name
        folder.mkdir()
        if device:
            (folder / "device").mkdir()
        if bond:
            (folder / "bonding").mkdir()
        if master:
            (folder / "master").symlink_to(self.root / master)
        if speed is not None:
            (folder / "speed").write_text(speed)


@pytest.fixture
def sys_tree(tmp_path: Path) -> SysTree:
    return SysTree(tmp_path)


def at(mono_s: float) -> Instant:
    return Instant(mono_s=mono_s, wall_s=1_800_000_000 + mono_s)


def moved(rx: int, tx: int = 0) -> ByteCounters:
    return ByteCounters(rx_bytes=rx, tx_bytes=tx)


def names(readings: tuple[InterfaceReading, ...]) -> list[str]:
    return [reading.name for reading in readings]


def test_hardware_is_chosen_over_everything_the_kernel_makes_up(sys_tree: SysTree) -> None:
    virtual = ["lo", "docker0", "veth12ab", "br-1f2e", "ifb0", "eth0.100", "tun0", "mystery"]
    for name in virtual:
        sys_tree.add(name)
    sys_tree.add("eth0", device=True)
    sys_tree.add("ib0", device=True)

    assert real_interfaces([*virtual, "ib0", "eth0"], sys_tree.root) == ["eth0", "ib0"]


def test_a_bond_stands_for_its_parts(sys_tree: SysTree) -> None:
    sys_tree.add("bond0", bond=True)
    sys_tree.add("eth0", device=True, master="bond0")
    sys_tree.add("eth1", device=True, master="bond0")
    sys_tree.add("eth2", device=True)

    chosen = real_interfaces(["bond0", "eth0", "eth1", "eth2"], sys_tree.root)

    assert chosen == ["bond0", "eth2"]


def test_a_port_of_a_bridge_counts_itself(sys_tree: SysTree) -> None:
    sys_tree.add("br0")
    sys_tree.add("eth0", device=True, master="br0")

    assert real_interfaces(["br0", "eth0"], sys_tree.root) == ["eth0"]


def test_a_virtual_function_under_its_synthetic_card_is_not_counted_twice(
    sys_tree: SysTree,
) -> None:
    sys_tree.add("eth0", device=True)
    sys_tree.add("enP1s1", device=True, master="eth0")

    assert real_interfaces(["enP1s1", "eth0"], sys_tree.root) == ["eth0"]


def test_inside_a_container_the_one_link_out_counts(sys_tree: SysTree) -> None:
    for name in ("lo", "eth0", "docker0"):
        sys_tree.add(name)

    assert real_interfaces(["lo", "eth0", "docker0"], sys_tree.root) == ["eth0"]


def test_without_sysfs_the_names_decide(tmp_path: Path) -> None:
    chosen = real_interfaces(["lo", "lowpan0", "veth0", "en0"], tmp_path / "absent")

    assert chosen == ["en0", "lowpan0"]


def test_a_host_of_loopback_only_has_no_network(tmp_path: Path) -> None:
    assert real_interfaces(["lo", "veth0"], tmp_path) == []


def test_the_list_is_bounded(tmp_path: Path) -> None:
    assert len(real_interfaces([f"eth{n}" for n in range(500)], tmp_path)) == MAX_INTERFACES


@pytest.mark.parametrize(
    ("text", "speed"),
    [("25000\n", 25_000), ("-1\n", None), ("0", None), ("fast", None), (None, None)],
)
def test_the_speed_of_a_link_is_known_or_it_is_not(
    sys_tree: SysTree,
    text: str | None,
    speed: int | None,
) -> None:
    sys_tree.add("eth0", speed=text)

    assert link_speed_mbps(sys_tree.root / "eth0") == speed


def test_rates_are_megabits_a_second_and_need_two_samples(sys_tree: SysTree) -> None:
    sys_tree.add("eth0", device=True, speed="10000")
    meter = NetworkMeter(sys_tree.root)

    first = meter.sample({"eth0": moved(1_000, 500)}, at(0))
    second = meter.sample({"eth0": moved(1_000 + 2_500_000, 500 + 250_000)}, at(2))

    assert first == (InterfaceReading(name="eth0", rx_mbps=None, tx_mbps=None, speed_mbps=10_000),)
    assert second == (InterfaceReading(name="eth0", rx_mbps=10.0, tx_mbps=1.0, speed_mbps=10_000),)


def test_a_silent_interface_is_a_measured_zero(sys_tree: SysTree) -> None:
    sys_tree.add("eth0", device=True)
    meter = NetworkMeter(sys_tree.root)
    meter.sample({"eth0": moved(7)}, at(0))

    (reading,) = meter.sample({"eth0": moved(7)}, at(1))

    assert (reading.rx_mbps, reading.tx_mbps) == (0.0, 0.0)


def test_at_first_the_interface_that_moved_most_since_boot_leads(sys_tree: SysTree) -> None:
    for name in ("eth0", "eth1", "eth2"):
        sys_tree.add(name, device=True)

    readings = NetworkMeter(sys_tree.root).sample(
        {"eth0": moved(5), "eth1": moved(3, 90), "eth2": moved(5)},
        at(0),
    )

    assert names(readings) == ["eth1", "eth0", "eth2"]


def test_the_interface_that_is_busy_now_overtakes_the_one_that_was(sys_tree: SysTree) -> None:
    for name in ("eth0", "eth1"):
        sys_tree.add(name, device=True)
    meter = NetworkMeter(sys_tree.root)
    old, new = 10**12, 0
    meter.sample({"eth0": moved(old), "eth1": moved(new)}, at(0))

    readings = meter.sample({"eth0": moved(old + 10), "eth1": moved(new + 10_000)}, at(1))

    assert names(readings) == ["eth1", "eth0"]


def test_one_quiet_second_does_not_change_the_order(sys_tree: SysTree) -> None:
    for name in ("eth0", "eth1"):
        sys_tree.add(name, device=True)
    meter = NetworkMeter(sys_tree.root)
    meter.sample({"eth0": moved(0), "eth1": moved(0)}, at(0))
    meter.sample({"eth0": moved(10), "eth1": moved(1_000_000)}, at(1))

    quiet = meter.sample({"eth0": moved(510), "eth1": moved(1_000_000)}, at(2))
    long_quiet = meter.sample({"eth0": moved(600), "eth1": moved(1_000_000)}, at(1_000))

    assert names(quiet) == ["eth1", "eth0"]
    assert names(long_quiet) == ["eth0", "eth1"]


def test_counters_that_start_again_make_one_interval_unknown(sys_tree: SysTree) -> None:
    sys_tree.add("eth0", device=True)
    meter = NetworkMeter(sys_tree.root)
    meter.sample({"eth0": moved(10_000, 10)}, at(0))

    (reset,) = meter.sample({"eth0": moved(100, 20)}, at(1))
    (after,) = meter.sample({"eth0": moved(125_100, 20)}, at(2))

    assert (reset.rx_mbps, reset.tx_mbps) == (None, None)
    assert after.rx_mbps == 1.0


def test_an_interface_that_comes_and_goes_is_followed(sys_tree: SysTree) -> None:
    sys_tree.add("eth0", device=True)
    meter = NetworkMeter(sys_tree.root)
    meter.sample({"eth0": moved(1)}, at(0))
    sys_tree.add("eth1", device=True)

    both = meter.sample({"eth0": moved(1), "eth1": moved(9)}, at(1))
    none = meter.sample({}, at(2))

    assert sorted(names(both)) == ["eth0", "eth1"]
    assert none == ()


def test_a_link_that_was_plugged_in_later_gets_its_speed(sys_tree: SysTree) -> None:
    sys_tree.add("eth0", device=True)
    meter = NetworkMeter(sys_tree.root)
    (before,) = meter.sample({"eth0": moved(1)}, at(0))
    (sys_tree.root / "eth0" / "speed").write_text("1000")

    (after,) = meter.sample({"eth0": moved(1)}, at(61))

    assert (before.speed_mbps, after.speed_mbps) == (None, 1000)


def test_two_samples_of_one_instant_divide_by_nothing(sys_tree: SysTree) -> None:
    sys_tree.add("eth0", device=True)
    meter = NetworkMeter(sys_tree.root)
    meter.sample({"eth0": moved(1)}, at(0))

    (reading,) = meter.sample({"eth0": moved(9)}, at(0))

    assert reading.rx_mbps is None
