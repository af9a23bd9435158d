"""What a second registration changes."""

from cacheroute.core.pool_upsert import MAX_META_BYTES, described, refusal_of, with_capabilities
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.core.test_fingerprint import capabilities


def test_address_and_weight_are_replaced() -> None:
    known = an_instance(port=1, weight=1.0)
    merged = described(an_instance(port=2, weight=3.0), known)
    assert (merged.port, merged.weight) == (2, 3.0)


def test_empty_endpoints_and_tags_keep_the_old_ones() -> None:
    known = an_instance(endpoints=("embeddings",), tags=("gpu",))
    merged = described(an_instance(), known)
    assert (merged.endpoints, merged.tags) == (("embeddings",), ("gpu",))
    assert described(an_instance(tags=("cpu",)), known).tags == ("cpu",)


def test_meta_is_merged() -> None:
    known = an_instance(meta={"rack": "a", "zone": 1})
    assert described(an_instance(meta={"zone": 2}), known).meta == {"rack": "a", "zone": 2}


def test_missing_capabilities_are_cleared() -> None:
    known = described(an_instance(capabilities=capabilities()), None)
    assert known.capability_fingerprint is not None
    merged = described(an_instance(), known)
    assert merged.capabilities is None
    assert merged.capability_fingerprint is None
    assert merged.models is None


def test_a_fingerprint_that_came_along_is_not_believed() -> None:
    assert described(an_instance(capability_fingerprint="sha256:00"), None) == an_instance()


def test_a_model_named_anew_replaces_the_models_named_before() -> None:
    known = described(an_instance(meta={"models": ["m0", "m1"], "rack": "a"}), None)
    merged = described(an_instance(meta={"model": "m2"}), known)
    assert merged.models == frozenset({"m2"})
    assert merged.meta == {"model": "m2", "rack": "a"}


def test_it_keeps_the_moment_it_first_came() -> None:
    known = an_instance(registered_wall_s=100.0)
    assert described(an_instance(registered_wall_s=200.0), known).registered_wall_s == 100.0


def test_the_configuration_of_a_static_instance_outranks_what_it_says_itself() -> None:
    known = an_instance(origin="static", weight=2.0, api_key="sk-1", max_concurrent=4)
    merged = described(an_instance(weight=9.0, tags=("gpu",)), known)
    assert (merged.origin, merged.weight, merged.api_key) == ("static", 2.0, "sk-1")
    assert merged.max_concurrent == 4
    assert merged.tags == ("gpu",)


def test_a_static_instance_keeps_the_models_of_its_configuration() -> None:
    asked = an_instance(origin="static", models=frozenset({"m0"}))
    assert described(asked, None).models == frozenset({"m0"})


def test_capabilities_of_a_heartbeat_bring_fingerprint_and_models() -> None:
    told = with_capabilities(an_instance(), capabilities(model={"identifier": "m0"}))
    assert told.models == frozenset({"m0"})
    assert told.capability_fingerprint is not None
    assert told.capability_fingerprint.startswith("sha256:")


def test_meta_may_not_grow_by_merging() -> None:
    known = an_instance(meta={"a": "x" * (MAX_META_BYTES // 2)})
    asked = an_instance(meta={"b": "x" * (MAX_META_BYTES // 2)})
    assert refusal_of(asked, asked, None, None) is None
    refusal = refusal_of(asked, described(asked, known), None, None)
    assert refusal is not None
    assert refusal.code == "meta_too_large"
