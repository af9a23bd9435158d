from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cacheroute.core.instance import Instance
from cacheroute.core.pool_member import Member
from cacheroute.core.routing.filters import Sifted, describe, sift
from tests.cacheroute.core.pool_builders import an_instance

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

CHAT = "chat/completions"


def a_member(instance_id: str = "i-1", **given_: Any) -> Member:
    return Member(an_instance(instance_id, **given_))


def sifted(
    *members: Member,
    model: str | None = "m",
    endpoint: str = CHAT,
    silent: dict[str, str] | None = None,
    resting: set[str] | None = None,
) -> Sifted:
    return sift(
        members,
        endpoint=endpoint,
        model=model,
        liveness=lambda member: (silent or {}).get(member.instance.instance_id, "alive"),
        is_resting=lambda member: member.instance.instance_id in (resting or set()),
    )


@pytest.mark.parametrize("state", ["stale", "dead"])
def test_who_is_silent_is_not_chosen(state: str) -> None:
    found = sifted(a_member("a"), a_member("b"), silent={"a": state})
    assert [m.instance.instance_id for m in found.kept] == ["b"]
    assert found.skipped == {state: ["a"]}


def test_who_drains_takes_nothing_new() -> None:
    member = a_member()
    member.draining = True
    assert sifted(member).skipped == {"draining": ["i-1"]}


def test_a_weight_of_zero_takes_nothing_new() -> None:
    assert sifted(a_member(weight=0.0)).skipped == {"weight 0": ["i-1"]}


def test_an_endpoint_that_is_not_listed_is_not_served() -> None:
    member = a_member(endpoints=("completions",))
    assert sifted(member).skipped == {"other endpoints": ["i-1"]}
    assert sifted(member, endpoint="completions").kept == [member]


def test_no_list_of_endpoints_means_all_of_them() -> None:
    assert len(sifted(a_member(), endpoint="embeddings").kept) == 1


def test_a_model_is_served_by_who_declared_or_listed_it_and_by_who_said_nothing() -> None:
    declared, listed, silent, other = (a_member(x) for x in ("declared", "listed", "silent", "x"))
    declared.instance = an_instance("declared", models=frozenset({"m"}))
    listed.probed_models = frozenset({"m", "n"})
    other.probed_models = frozenset({"n"})
    found = sifted(declared, listed, silent, other)
    assert found.kept == [declared, listed, silent]
    assert found.skipped == {"other models": ["x"]}


def test_an_empty_list_of_models_serves_none() -> None:
    member = a_member()
    member.probed_models = frozenset()
    assert sifted(member).skipped == {"other models": ["i-1"]}


def test_a_request_without_a_model_goes_anywhere() -> None:
    member = a_member(models=frozenset({"n"}))
    assert sifted(member, model=None).kept == [member]


def test_who_overrides_the_model_serves_any_name() -> None:
    member = a_member(models=frozenset({"n"}), model_override="n")
    assert sifted(member).kept == [member]


def test_each_is_dropped_by_the_first_filter_that_objects() -> None:
    member = a_member(weight=0.0, endpoints=("x",), models=frozenset({"n"}))
    assert sifted(member).skipped == {"weight 0": ["i-1"]}
    member.draining = True
    assert sifted(member).skipped == {"draining": ["i-1"]}
    assert sifted(member, silent={"i-1": "dead"}).skipped == {"dead": ["i-1"]}


def test_who_rests_is_spared_while_others_are_there() -> None:
    found = sifted(a_member("a"), a_member("b"), resting={"a"})
    assert [m.instance.instance_id for m in found.kept] == ["b"]
    assert found.skipped == {"resting after failures": ["a"]}
    assert not found.rested


def test_when_all_rest_they_are_used_all_the_same() -> None:
    found = sifted(a_member("a"), a_member("b"), a_member("c", weight=0.0), resting={"a", "b"})
    assert [m.instance.instance_id for m in found.kept] == ["a", "b"]
    assert found.skipped == {"weight 0": ["c"]}
    assert found.rested


def test_who_cannot_serve_is_no_reason_to_spare_who_rests_nor_to_use_him() -> None:
    found = sifted(a_member("a"), silent={"a": "dead"}, resting={"a"})
    assert found.kept == []
    assert found.skipped == {"dead": ["a"]}


def test_who_was_skipped_is_told_by_reason_and_name() -> None:
    told = describe({"stale": ["i-1", "i-4"], "draining": ["i-2"]})
    assert told == "2 stale (i-1, i-4), 1 draining (i-2)"


def test_a_long_list_of_names_is_cut_and_says_so() -> None:
    told = describe({"dead": [f"i-{n}" for n in range(9)]})
    assert told == "9 dead (i-0, i-1, i-2, i-3, and 5 more)"


FLEETS = st.lists(
    st.builds(
        an_instance,
        st.uuids().map(str),
        weight=st.sampled_from([0.0, 1.0]),
        endpoints=st.sampled_from([(), (CHAT,), ("completions",)]),
        models=st.sampled_from([None, frozenset({"m"}), frozenset({"n"})]),
    ),
    max_size=8,
)


@patient
@given(fleet=FLEETS, states=st.lists(st.sampled_from(["alive", "stale"]), min_size=8, max_size=8))
def test_everybody_is_either_kept_or_skipped_once(fleet: list[Instance], states: list[str]) -> None:
    members = [Member(instance) for instance in fleet]
    of = dict(zip((m.instance.instance_id for m in members), states, strict=False))
    found = sifted(*members, silent=of, resting={m.instance.instance_id for m in members[::2]})
    skipped = [one for ids in found.skipped.values() for one in ids]
    kept = [member.instance.instance_id for member in found.kept]
    assert sorted(skipped + kept) == sorted(instance.instance_id for instance in fleet)
