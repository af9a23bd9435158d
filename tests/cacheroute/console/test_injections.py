"""What became of knowledge in the last minutes, whatever happened to the counters."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cacheroute.console.injections import WINDOW_S, Injections, RecentInjections
from cacheroute.console.look import Look
from cacheroute.wire.console import Knowledge, Proxy
from tests.tui.fleet import WALL_S, drawn_fleet

LONG_AGO_S = 8_000.0


def look(
    after_s: float,
    counts: tuple[int, int, int] | None,
    *,
    run: str = "one",
    uptime_s: float | None = LONG_AGO_S,
) -> Look:
    knowledge = counts and Knowledge(text_inject=counts[0], kv_inject=counts[1], fallback=counts[2])
    document = replace(
        drawn_fleet(),
        knowledge=knowledge,
        generated_at=WALL_S + after_s,
        run=run,
        proxy=Proxy(uptime_s=uptime_s),
    )
    return Look(snapshot=document, url="u")


def told_of(*looks: Look) -> Injections | None:
    recent = RecentInjections()
    for one in looks:
        recent.hear(one)
    return recent.told


def test_only_what_was_counted_since_the_first_look_is_told_and_over_which_time() -> None:
    found = told_of(
        look(0.0, (700, 300, 9)), look(60.0, (706, 304, 10)), look(120.0, (708, 305, 10))
    )

    assert found == Injections(text=8, kv=5, fallback=1, over_s=120.0)


def test_what_is_older_than_the_window_is_left_out() -> None:
    recent = RecentInjections()
    for second in range(0, 1_001, 10):
        recent.hear(look(float(second), (2 * second, second, 0)))

    assert recent.told == Injections(text=600, kv=300, fallback=0, over_s=WINDOW_S)


def test_one_look_tells_nothing_but_of_a_proxy_that_is_younger_than_the_window() -> None:
    assert told_of(look(0.0, (700, 300, 9))) == Injections(text=0, kv=0, fallback=0, over_s=0.0)
    young = told_of(look(0.0, (7, 3, 1), uptime_s=60.0), look(10.0, (9, 3, 1), uptime_s=70.0))
    assert young == Injections(text=9, kv=3, fallback=1, over_s=70.0)


def test_a_proxy_that_was_started_anew_counts_from_0_and_nothing_before_is_lost() -> None:
    found = told_of(
        look(0.0, (700, 300, 9)),
        look(10.0, (704, 301, 9)),
        look(20.0, (3, 0, 1), run="two", uptime_s=8.0),
    )

    assert found == Injections(text=7, kv=1, fallback=1, over_s=20.0)


def test_a_counter_that_has_lost_an_instance_has_not_risen() -> None:
    found = told_of(look(0.0, (700, 300, 9)), look(10.0, (650, 303, 9)), look(20.0, (651, 303, 9)))

    assert found == Injections(text=1, kv=3, fallback=0, over_s=20.0)


def test_after_a_silence_longer_than_the_window_and_a_way_back_it_begins_anew() -> None:
    first, late = look(0.0, (700, 300, 9)), look(WINDOW_S, (800, 400, 9))

    for before, after in ((first, late), (late, first)):
        assert told_of(before, after) == Injections(text=0, kv=0, fallback=0, over_s=0.0)


def test_a_proxy_that_does_not_tell_has_none() -> None:
    assert told_of(look(0.0, (1, 1, 1)), look(1.0, None)) is None


@given(st.lists(st.tuples(st.floats(0.01, 20), st.integers(0, 9)), max_size=60))
def test_it_is_the_rise_over_the_window_however_often_somebody_looks(
    steps: list[tuple[float, int]],
) -> None:
    now_s, count, seen = 0.0, 100, [(0.0, 100)]
    recent = RecentInjections()
    recent.hear(look(0.0, (100, 0, 0)))
    for passed_s, more in steps:
        now_s, count = now_s + passed_s, count + more
        seen.append((now_s, count))
        recent.hear(look(now_s, (count, 0, 0)))

    assert recent.told is not None
    # Looks within a second count as one, so the beginning may be a second off.
    inside = [n for at_s, n in seen if at_s >= now_s - WINDOW_S + 1.0] or [count]
    before = [n for at_s, n in seen if at_s <= now_s - WINDOW_S - 1.0]
    assert count - inside[0] <= recent.told.text <= count - (before[-1] if before else 100)
    assert len(recent._points) <= WINDOW_S + 3
