from cacheroute.settings.nearest import nearest


def test_the_most_similar_name_was_meant() -> None:
    assert nearest("ttl", ["port", "ttl_s", "host"]) == "ttl_s"
    assert nearest("MAX-Capacity", ["max_capacity", "max_links"]) == "max_capacity"


def test_nothing_near_is_none() -> None:
    assert nearest("zebra", ["port", "host"]) is None
    assert nearest("x" * 100_000, ["port", "host"]) is None
