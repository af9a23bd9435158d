import pytest

from cacheroute.demo.scheduler.proxies import MAX_META_BYTES, MAX_PROXIES, Proxies
from cacheroute.formats.address import Address
from tests.cacheroute.demo.scheduler.parts import at, heartbeat, joined, registration

CHAT = "chat/completions"


def three() -> Proxies:
    proxies = Proxies(30.0)
    for name in ("b", "c", "a"):
        joined(proxies, name, at(0))
    return proxies


def turns(proxies: Proxies, count: int, now_s: float = 0) -> str:
    chosen = [proxies.next(CHAT, at(now_s)) for _ in range(count)]
    return "".join(one.proxy_id if one else "-" for one in chosen)


def test_proxies_take_turns_in_the_order_of_their_ids() -> None:
    assert turns(three(), 7) == "abcabca"


def test_heartbeats_do_not_change_whose_turn_it_is() -> None:
    proxies = three()
    seen = ""
    for second in range(6):
        proxies.heartbeat(heartbeat("abc"[second % 3]), at(second))
        seen += turns(proxies, 1, second)

    assert seen == "abcabc"


def test_one_that_comes_or_goes_moves_nobody_elses_turn() -> None:
    proxies = three()
    assert turns(proxies, 1) == "a"
    proxies.unregister("b")
    joined(proxies, "bb", at(0))

    assert turns(proxies, 3) == "bbca"


def test_a_silent_proxy_gets_no_turn_until_it_is_heard_again() -> None:
    proxies = three()
    proxies.heartbeat(heartbeat("a"), at(20))

    assert turns(proxies, 2, 30) == "ab"
    assert turns(proxies, 2, 30.1) == "aa"
    assert turns(proxies, 1, 50.1) == "-"
    proxies.heartbeat(heartbeat("c"), at(51))
    assert turns(proxies, 1, 51) == "c"


def test_the_clock_on_the_wall_expires_nobody() -> None:
    proxies = three()
    moved = at(1)

    assert len(proxies.alive(type(moved)(moved.mono_s, moved.wall_s + 1e6))) == 3


def test_one_that_was_tried_is_left_out() -> None:
    proxies = three()

    assert [proxies.next(CHAT, at(0), {"a", "b"}) is not None for _ in range(2)] == [True, True]
    assert proxies.next(CHAT, at(0), {"a", "b", "c"}) is None


def test_only_who_serves_the_endpoint_is_asked() -> None:
    proxies = Proxies(30.0)
    joined(proxies, "a", at(0), endpoints=["completions"])
    joined(proxies, "b", at(0), endpoints=[])

    assert turns(proxies, 2) == "bb"


@pytest.mark.parametrize(
    ("endpoints", "now_s", "why"),
    [
        (None, 0, "No Proxy is registered."),
        (["completions"], 0, "None of the 1 Proxies that are alive serves chat/completions."),
        ([CHAT], 31, "No Proxy is alive: all 1 have been silent for over 30 s."),
    ],
)
def test_why_there_is_none_is_a_sentence(
    endpoints: list[str] | None, now_s: float, why: str
) -> None:
    proxies = Proxies(30.0)
    if endpoints is not None:
        joined(proxies, "a", at(0), endpoints=endpoints)

    assert proxies.why_none(CHAT, at(now_s)) == why


def test_without_an_id_it_is_called_by_its_address() -> None:
    proxies = Proxies(30.0)

    body = registration(host="::1", port=8001)
    assert proxies.register(body, Address("::1", 8001), at(0)) == "hp_[::1]:8001"


def test_registering_again_replaces_the_record_and_zeroes_inflight() -> None:
    proxies = Proxies(30.0)
    joined(proxies, "a", at(0), meta={"x": 1}, tags=["t"])
    before = proxies.next(CHAT, at(0))
    assert before is not None
    before.inflight += 1
    joined(proxies, "a", at(1), port=8009)

    [row] = proxies.rows(at(1), include_dead=False)
    assert (row.inflight, row.meta, row.tags, row.port) == (0, {}, [], 8009)


def test_load_figures_that_are_left_out_beside_others_become_zero() -> None:
    proxies = Proxies(30.0)
    joined(proxies, "a", at(0))
    proxies.heartbeat(heartbeat("a", inflight=3, qps_1m=2.5, gpu_util=40.0), at(1))
    proxies.heartbeat(heartbeat("a", qps_1m=1.5), at(2))

    [row] = proxies.rows(at(2), include_dead=False)
    assert (row.inflight, row.qps_1m, row.gpu_util) == (0, 1.5, 0.0)


def test_a_heartbeat_without_load_figures_leaves_them() -> None:
    proxies = Proxies(30.0)
    joined(proxies, "a", at(0))
    proxies.heartbeat(heartbeat("a", inflight=3), at(1))
    proxies.heartbeat(heartbeat("a"), at(2))

    [row] = proxies.rows(at(2), include_dead=False)
    assert row.inflight == 3


def test_a_patch_is_merged_into_the_meta() -> None:
    proxies = Proxies(30.0)
    joined(proxies, "a", at(0), meta={"version": "proxy_v1", "kdn_links": {"old": {}}})
    proxies.heartbeat(heartbeat("a", meta_patch={"kdn_links": {"k": {}}}), at(1))

    [row] = proxies.rows(at(1), include_dead=False)
    assert row.meta == {"version": "proxy_v1", "kdn_links": {"k": {}}}


def test_patches_cannot_make_the_meta_grow_without_end() -> None:
    proxies = Proxies(30.0)
    joined(proxies, "a", at(0))
    proxies.heartbeat(heartbeat("a", meta_patch={"x": "y" * (MAX_META_BYTES - 100)}), at(1))
    with pytest.raises(ValueError, match="may not exceed"):
        proxies.heartbeat(heartbeat("a", meta_patch={"z": "y" * 100}), at(2))

    [row] = proxies.rows(at(2), include_dead=False)
    assert set(row.meta) == {"x"}


def test_the_pool_summary_is_kept_with_its_time() -> None:
    proxies = Proxies(30.0)
    joined(proxies, "a", at(0))
    assert proxies.rows(at(0), include_dead=False)[0].pool_resource_reported_at is None
    proxies.heartbeat(heartbeat("a", pool_resource={"schema_version": 1}), at(2))
    proxies.heartbeat(heartbeat("a"), at(3))

    [row] = proxies.rows(at(3), include_dead=False)
    assert row.pool_resource == {"schema_version": 1}
    assert row.pool_resource_reported_at == at(2).wall_s
    assert (row.registered_at, row.last_seen_at) == (at(0).wall_s, at(3).wall_s)


def test_an_unknown_proxy_is_told_so() -> None:
    assert not Proxies(30.0).heartbeat(heartbeat("a"), at(0))


def test_the_list_begins_with_who_was_heard_of_last() -> None:
    proxies = three()
    proxies.heartbeat(heartbeat("c"), at(5))
    proxies.heartbeat(heartbeat("b"), at(40))

    rows = proxies.rows(at(40), include_dead=True)
    assert [(row.proxy_id, row.is_alive) for row in rows] == [
        ("b", True),
        ("c", False),
        ("a", False),
    ]
    assert [row.proxy_id for row in proxies.rows(at(40), include_dead=False)] == ["b"]


def test_the_cache_of_a_pool_is_that_of_all_its_instances() -> None:
    proxies = Proxies(30.0)
    joined(proxies, "a", at(0), instance_count=4, kv_mem_per_instance_gb=2.5)

    assert proxies.rows(at(0), include_dead=False)[0].kv_cache_pool_gb == 10.0


def test_there_is_room_for_so_many_and_the_dead_make_room() -> None:
    proxies = Proxies(30.0)
    for number in range(MAX_PROXIES):
        joined(proxies, f"p-{number:03}", at(number / MAX_PROXIES))
    body = registration(proxy_id="new")
    assert proxies.register(body, Address("127.0.0.1", 8001), at(1)) is None
    joined(proxies, "p-000", at(1))  # a known one is no further one

    assert proxies.register(body, Address("127.0.0.1", 8001), at(30.5)) == "new"
    rows = proxies.rows(at(30.5), include_dead=True)
    assert len(rows) == MAX_PROXIES
    assert "p-001" not in {row.proxy_id for row in rows}
