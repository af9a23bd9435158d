"""Ids nobody registered."""

from cacheroute.core.pool_unknown import UnknownIds


def test_only_the_first_sight_is_news() -> None:
    unknown = UnknownIds(8)
    assert [unknown.saw("ghost") for _ in range(3)] == [True, False, False]
    assert unknown.count("ghost") == 3
    assert unknown.total == 3


def test_the_id_unseen_for_longest_makes_room() -> None:
    unknown = UnknownIds(2)
    for instance_id in ("a", "b", "a", "c"):
        unknown.saw(instance_id)
    assert unknown.count("b") == 0
    assert unknown.count("a") == 2
    assert len(unknown) == 2


def test_ids_of_a_caller_s_choice_do_not_fill_memory() -> None:
    unknown = UnknownIds(1024)
    for n in range(10_000):
        unknown.saw(f"ghost-{n}")
    assert len(unknown) == 1024
    assert unknown.total == 10_000


def test_an_id_that_registered_is_news_when_it_is_lost_again() -> None:
    unknown = UnknownIds(8)
    unknown.saw("i-1")
    unknown.forget("i-1")
    unknown.forget("never-seen")
    assert unknown.saw("i-1")
