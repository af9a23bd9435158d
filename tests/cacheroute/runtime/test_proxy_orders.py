"""What the operator may turn on a running Proxy: the strategy, and where those who wait go."""

from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.routing.strategies import LeastLoad, RoundRobin
from cacheroute.core.routing.weights import Weights
from cacheroute.runtime.proxy import Proxy
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.core.routing.routing_builders import a_request
from tests.cacheroute.runtime.operating_parts import fleet
from tests.cacheroute.runtime.runtime_parts import a_proxy, member_of, placed


def fill(proxy: Proxy, instance_id: str) -> None:
    board = proxy.turnstiles.gate(member_of(proxy, instance_id)).board
    while board.enqueue(Ticket()):
        pass


def test_another_strategy_hears_of_every_change_from_then_on() -> None:
    proxy, _ = a_proxy(*fleet(3))
    held = [placed(proxy, a_request()) for _ in range(2)]
    old = proxy.strategy
    new = LeastLoad(Weights())
    proxy.use(new)
    assert proxy.strategy is new
    assert proxy.turnstiles.on_change == new.on_change
    assert placed(proxy, a_request()).member.instance.instance_id == "i-3"
    proxy.release(held[0])
    assert placed(proxy, a_request()).member is held[0].member
    proxy.use(old)
    assert [m.inflight for m in proxy.pool.members.values()] == [1, 1, 1]


def test_nothing_of_the_strategy_before_is_kept() -> None:
    proxy, _ = a_proxy(*fleet(3), strategy="least_load")
    placed(proxy, a_request())
    assert all(member.places for member in proxy.pool.members.values())
    proxy.use(RoundRobin(Weights()))
    assert not any(member.places for member in proxy.pool.members.values())
    placed(proxy, a_request())
    proxy.use(LeastLoad(Weights()))
    placed(proxy, a_request())
    assert [len(member.places) for member in proxy.pool.members.values()] == [1, 1, 1]


def test_a_request_has_another_place_where_somebody_else_serves_it() -> None:
    proxy, clock = a_proxy(
        an_instance("i-1", port=9001, meta={"model": "big"}),
        an_instance("i-2", port=9002, meta={"model": "small"}),
    )
    first, second = member_of(proxy, "i-1"), member_of(proxy, "i-2")
    assert proxy.has_another(a_request(model="small"), (first,))
    assert not proxy.has_another(a_request(model="big"), (first,))
    assert not proxy.has_another(a_request(model="small"), (first, second))
    second.draining = True
    assert not proxy.has_another(a_request(model="small"), (first,))
    second.draining = False
    clock.wait(60)
    assert not proxy.has_another(a_request(model="small"), (first,))


def test_one_that_rests_or_has_a_full_queue_is_no_other_place() -> None:
    proxy, _ = a_proxy(*fleet(3))
    first, second = member_of(proxy, "i-1"), member_of(proxy, "i-2")
    fill(proxy, "i-2")
    # Round robin would send it to the full one as well.
    assert not proxy.has_another(a_request(), (first,))
    assert proxy.has_another(a_request(), (first, second))
    for _ in range(10):
        proxy.failed(member_of(proxy, "i-3"), "broken")
        proxy.failed(second, "broken")
        proxy.failed(first, "broken")
    assert not proxy.has_another(a_request(), (first, second))
