import random

from cacheroute.demo.scheduler.chance import Chance


def test_the_same_seed_gives_the_same_bytes() -> None:
    one, other = Chance(random.Random(1)), Chance(random.Random(1))

    assert len(one.bytes(16)) == 16
    assert other.bytes(16) != one.bytes(16)
    assert Chance(random.Random(2)).bytes(16) == Chance(random.Random(2)).bytes(16)


def test_a_rate_of_nought_is_never_and_of_one_always() -> None:
    chance = Chance()

    assert not any(chance.happens(0.0) for _ in range(100))
    assert all(chance.happens(1.0) for _ in range(100))
