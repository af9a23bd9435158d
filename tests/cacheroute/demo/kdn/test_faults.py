import msgspec
import pytest

from cacheroute.demo.kdn.faults import FaultOrder, Faults
from cacheroute.demo.kdn.refused import Refused


def make() -> tuple[Faults, list[float]]:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    return Faults(sleep), slept


async def test_without_an_order_nothing_happens() -> None:
    faults, slept = make()

    await faults.before_lookup()
    await faults.before_inject()

    assert slept == []


async def test_an_order_strikes_so_many_calls_of_its_kind() -> None:
    faults, slept = make()
    faults.order(FaultOrder(lookup_delay_s=3, lookup_status=503, count=2))

    for _ in range(2):
        with pytest.raises(Refused) as refused:
            await faults.before_lookup()
        assert refused.value.status == 503
        await faults.before_inject()
    await faults.before_lookup()

    assert slept == [3, 3]


async def test_lookups_and_injections_are_counted_apart() -> None:
    faults, slept = make()
    faults.order(FaultOrder(lookup_delay_s=1, inject_delay_s=2))

    for _ in range(2):
        await faults.before_inject()
        await faults.before_lookup()

    assert slept == [2, 1]


async def test_an_order_can_be_taken_back() -> None:
    faults, slept = make()
    faults.order(FaultOrder(inject_delay_s=2, count=9))
    assert faults.shown()["left"] == {"lookup": 0, "inject": 9}

    faults.clear()
    await faults.before_inject()

    assert slept == []
    assert faults.shown()["fault"] is None


def test_an_order_of_nothing_is_refused_and_leaves_the_one_before() -> None:
    faults, _ = make()
    faults.order(FaultOrder(lookup_status=500))

    with pytest.raises(Refused):
        faults.order(FaultOrder(count=3))

    assert faults.shown()["left"] == {"lookup": 1, "inject": 0}


@pytest.mark.parametrize(
    "body",
    [
        b'{"lookup_status": 200}', b'{"lookup_delay_s": -1}', b'{"count": 0}',
        b'{"lookup_stat": 500}',
    ],
)  # fmt: skip
def test_what_cannot_be_ordered_does_not_decode(body: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(body, type=FaultOrder)
