"""Every word on the console has a meaning."""

import pytest

from cacheroute.console.alerts import Alert
from cacheroute.console.explain import UnknownTerm, explain, explanations, of_alert, of_kind
from cacheroute.console.kinds import KINDS
from cacheroute.console.rows.instances import INSTANCES
from cacheroute.console.rows.screen_columns import DRAWN
from cacheroute.console.rules import Rules


def test_a_column_is_explained_with_unit_source_and_what_unknown_means() -> None:
    [one] = [one for one in explain("score") if one.of == "instances"]

    assert one.meaning == "What least_load compares; lower wins."
    assert one.source is not None
    assert "weight is 0" in (one.unknown or "")
    assert explain("age")[0].unit == "s"


def test_a_word_is_found_by_any_of_its_names() -> None:
    assert {one.term for one in explain("GPU")} == {"gpu", "gpu_util"}


def test_a_word_that_is_not_there_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownTerm, match="did you mean 'backlog"):
        explain("baklog")
    with pytest.raises(UnknownTerm, match=r"nothing is called 'qqqq'$"):
        explain("qqqq")


def test_every_column_of_every_kind_is_there() -> None:
    every = {(one.of, one.term) for one in explanations()}

    assert every >= {(kind.name, column.key) for kind in KINDS.values() for column in kind.columns}
    assert [one.term for one in of_kind(INSTANCES)] == [c.key for c in INSTANCES.columns]


def test_every_kind_of_alert_can_be_explained() -> None:
    for kind in Alert.__annotations__["kind"].__args__:
        assert explain(kind)


def test_an_alert_is_explained_with_its_threshold_and_where_that_is_configured() -> None:
    [skew] = explain("skew")

    assert "Configured as alerts.skew_ratio = 1.5, alerts.skew_min = 3, by default." in skew.meaning
    assert skew.source == "counted by the Proxy"
    assert "alerts.skew_ratio = 2," in of_alert("skew", Rules(skew_ratio=2)).meaning
    assert "Configured" not in of_alert("pool").meaning


def test_what_only_a_screen_has_is_explained_as_a_column_of_instances() -> None:
    for word in DRAWN:
        assert "instances" in {one.of for one in explain(word)}, word
