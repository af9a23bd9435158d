"""An Instance as a text and back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.topology import Link, Scalar
from cacheroute.stores.base import SavedLinks
from cacheroute.stores.rows import (
    MAX_LINKS_BYTES,
    from_row,
    links_from_row,
    links_to_row,
    to_row,
)
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.stores.store_parts import REPORT, WHOLE

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_what_it_said_comes_back() -> None:
    assert from_row(to_row(WHOLE)) == WHOLE


@given(st.dictionaries(st.text(), JSON))
def test_any_meta_comes_back(meta: dict[str, object]) -> None:
    assert from_row(to_row(an_instance(meta=meta))).meta == meta


def test_what_others_said_of_it_is_not_written() -> None:
    text = to_row(an_instance(api_key="sk-secret", models=frozenset({"m"}), model_override="o"))
    assert set(json.loads(text)) == {
        "instance_id", "host", "port", "base_path", "endpoints", "tags", "weight", "meta",
        "capabilities", "registered_wall_s",
    }  # fmt: skip
    assert "sk-secret" not in text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"instance_id": "i", "host": "h", "port": 0}',
        '{"instance_id": "i", "host": "h", "port": 1, "weight": -1}',
        '{"instance_id": "i", "host": "h", "port": 1, "meta": []}',
    ],
)
def test_what_holds_no_instance_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        from_row(text)


def test_links_come_back_as_they_were_reported() -> None:
    assert links_from_row(links_to_row(REPORT)) == REPORT


METRIC = st.none() | st.booleans() | st.integers() | st.text() | st.floats(0, allow_infinity=False)


@given(st.dictionaries(st.text(), METRIC))
def test_any_metrics_of_a_link_come_back(metrics: dict[str, Scalar]) -> None:
    link = Link(bandwidth_mbps=None, metrics=metrics)
    row = links_to_row(SavedLinks(links={"k": link}, reported_wall_s=1.0))
    assert json.loads(row)["links"] == {"k": metrics}


def test_of_a_report_that_is_too_large_the_first_links_are_kept() -> None:
    wordy: dict[str, Scalar] = {"about": "x" * 500}
    links = {f"kdn-{n:04}": Link.of(wordy) for n in range(1_000)}
    row = links_to_row(SavedLinks(links=links, reported_wall_s=1.0))
    kept = list(links_from_row(row).links)
    assert MAX_LINKS_BYTES * 0.99 < len(row) <= MAX_LINKS_BYTES + 100
    assert kept == list(links)[: len(kept)]


def test_the_largest_report_of_the_published_kind_has_room() -> None:
    links = {
        f"kdn://kdn-{n:04}.cluster.example:9101": Link.of(
            {
                "bandwidth_mbps": 100_000.0,
                "latency_ms": 0.123456789,
                "iface": "eth0",
                "measured_by": "hp_255.255.255.255:65535",
            }
        )
        for n in range(1_000)
    }
    row = links_to_row(SavedLinks(links=links, reported_wall_s=1.0))
    assert len(links_from_row(row).links) == 1_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"reported_wall_s": "then", "links": {}}',
        '{"reported_wall_s": 1, "links": {"k": 7}}',
        '{"reported_wall_s": 1, "links": {"k": {"rtt_ms": [1]}}}',
        '{"reported_wall_s": 1, "links": {"k": {"bandwidth_mbps": -1}}}',
    ],
)
def test_what_holds_no_links_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        links_from_row(text)
