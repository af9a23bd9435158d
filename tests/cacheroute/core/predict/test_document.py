"""protocol 8, number 5: coefficients that would silently predict nothing are refused."""

import copy
import math
from typing import Any

import pytest

from cacheroute.core.predict.coefficients import PUBLISHED, parse_coefficients
from cacheroute.core.predict.document import MAX_POINTS, DocumentReader
from cacheroute.core.predict.transfer import KvSize


def problems_of(**sections: Any) -> list[str]:
    """Change sections of a whole document and return what is said of it."""
    document = copy.deepcopy(PUBLISHED.as_mapping())
    for name, section in sections.items():
        old = document.get(name)
        is_part = isinstance(section, dict) and isinstance(old, dict)
        document[name] = {**old, **section} if is_part else section  # type: ignore[dict-item]
    try:
        parse_coefficients(document)
    except ValueError as refused:
        return str(refused).splitlines()[:-1]
    return []


def test_a_whole_document_has_no_problems() -> None:
    assert problems_of() == []


def test_prefill_of_zeros_is_refused_even_with_a_curve() -> None:
    assert problems_of(ttft={"a": 0, "b": 0, "c": 0, "d": 0}) == [
        "ttft: a, b, c and d are all zero, which predicts 0 ms for every prompt."
    ]


def test_decode_of_zeros_is_refused_by_batch_size() -> None:
    zero = {"slope": 0, "intercept": 0}
    assert problems_of(tpot={"by_bs": {"1": {"slope": 0, "intercept": 1}, "4": zero}}) == [
        "tpot: slope and intercept of batch size 4 are zero, which predicts 0 ms for every token."
    ]


def test_a_pull_of_zeros_is_refused() -> None:
    assert problems_of(redis={"a": 0, "b": 0}) == [
        "redis: a and b are both zero, which predicts 0 ms for every load of KV."
    ]


def test_kv_without_weight_is_refused() -> None:
    [problem] = problems_of(kv={"network_mb_per_token": 0})
    assert problem.startswith("kv: the KV of a token must weigh something, not 0.0 MB")


@pytest.mark.parametrize("value", [math.nan, math.inf, "1", None, True, [], 10**400])
@pytest.mark.parametrize(
    ("section", "key"),
    [("ttft", "a"), ("ttft", "floor_ms"), ("redis", "b"), ("kv", "redis_gb_per_token")],
)
def test_what_is_not_a_finite_number_is_refused_by_name(
    section: str, key: str, value: object
) -> None:
    found = problems_of(**{section: {key: value}})
    assert found[0].startswith(f"{section}.{key} must be a finite number; it is ")
    assert len(found[0]) < 200


@pytest.mark.parametrize("section", ["ttft", "tpot", "redis", "kv"])
@pytest.mark.parametrize("value", [None, 7, "all", [1]])
def test_a_section_that_is_no_object_is_refused(section: str, value: object) -> None:
    assert problems_of(**{section: value}) == [
        f"{section} is missing." if value is None else f"{section} must be an object."
    ]


def test_a_key_that_is_not_known_is_refused_in_a_document_of_ours() -> None:
    assert problems_of(redis={"slope": 1}) == ["redis.slope is not known; redis has a, b."]


def test_a_document_of_another_schema_is_refused() -> None:
    assert problems_of(schema="cacheroute.coefficients/2")[0] == (
        "schema is 'cacheroute.coefficients/2'; this version reads 'cacheroute.coefficients/1'."
    )


def test_longer_prompts_are_not_faster() -> None:
    [problem] = problems_of(ttft={"a": -1.0})
    assert "longer is slower" in problem
    [problem] = problems_of(ttft={"a": -1.0, "b": 1.0})
    assert problem == "ttft: a + b is zero, so the length of a prompt would not matter."
    assert problems_of(ttft={"floor_ms": -1}) == ["ttft.floor_ms must not be negative; it is -1.0."]
    assert problems_of(redis={"a": -1}) == ["redis.a must not be negative; it is -1.0."]


@pytest.mark.parametrize(
    ("section", "unit"), [("ttft", "ms"), ("tpot", "ms"), ("redis", "Seconds")]
)
def test_another_unit_is_refused(section: str, unit: str) -> None:
    wanted = "ms" if section == "redis" else "seconds"
    assert problems_of(**{section: {"unit": unit}}) == [
        f"{section}.unit is {unit!r}; its figures must be in {wanted}."
    ]


@pytest.mark.parametrize(
    "curve",
    ["abc", 7, [[1]], [1], ["ab"], [[1, math.nan]], [[-1, 2]], [[1, 2], [1, 3]], [[0, 0]] * 2000],
)
def test_a_curve_that_is_none_is_refused(curve: object) -> None:
    [problem] = problems_of(ttft={"curve": curve})
    assert problem.startswith("ttft.curve ")


@pytest.mark.parametrize(
    "by_bs",
    [
        None, [], {}, {"0": {}}, {"-1": {}}, {"x": {}}, {"1": 7}, {"1": {"slope": 1}},
        {"1": {"slope": 1, "intercept": 1}, "01": {"slope": 1, "intercept": 1}},
        {"9" * 5000: {}}, {str(k): {} for k in range(1, MAX_POINTS + 2)},
    ],
)  # fmt: skip
def test_batch_sizes_that_are_none_are_refused(by_bs: object) -> None:
    found = problems_of(tpot={"by_bs": by_bs})
    assert found
    assert all(problem.startswith("tpot.by_bs") and len(problem) < 200 for problem in found)


@pytest.mark.parametrize("align", [0, -1, 1.5])
def test_blocks_are_whole_tokens(align: float) -> None:
    [problem] = problems_of(kv={"align_tokens": align})
    assert problem == f"kv.align_tokens must be a whole number of tokens, not {float(align)!r}."


def test_facts_are_an_object() -> None:
    assert problems_of(fitted=[1]) == ["fitted must be an object of facts; it is [1]."]


def test_a_document_of_ours_must_say_what_kv_weighs() -> None:
    size = KvSize.of_bytes(1)
    ours = DocumentReader({"schema": "cacheroute.coefficients/1"})
    ours.kv(size)
    assert ours.problems == ["kv is missing."]
    theirs = DocumentReader({})
    assert theirs.kv(size) is size
    assert theirs.problems == []
