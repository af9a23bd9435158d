"""An explanation on paper."""

from cacheroute.console.explain import Explanation
from cacheroute_cli.explaining import lines_of


def test_a_word_has_its_meaning_and_what_else_there_is_to_say() -> None:
    one = Explanation(
        term="gpu_util", of="instances", meaning="Average use.", unit="%", source="the agent",
        unknown=None, names=("gpu_util", "gpu"),
    )  # fmt: skip

    assert [(line.label, line.facts) for line in lines_of([one])] == [
        ("word", ("gpu_util", "(instances)")),
        ("means", ("Average use.",)),
        ("unit", ("%",)),
        ("source", ("the agent",)),
        ("names", ("gpu_util, gpu",)),
    ]


def test_a_word_of_the_glossary_is_of_no_list() -> None:
    one = Explanation(
        term="ttl", of="glossary", meaning="Time.", unit=None, source=None, unknown=None,
        names=("ttl",),
    )  # fmt: skip

    assert [line.facts for line in lines_of([one])] == [("ttl",), ("Time.",)]
