import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.clock import Instant
from cacheroute.core.resources import MAX_TEXT_CHARS, Resource, normalise

NOW = Instant(mono_s=50.0, wall_s=1_800_000_000.9)
PUBLISHED_FIELDS = [
    "cpu_util",
    "memory_used_mb",
    "memory_total_mb",
    "memory_free_mb",
    "memory_free_ratio",
    "gpu_util_avg",
    "gpu_util_current",
    "gpu_util_max",
    "gpu_sample_count",
    "gpu_sample_age_ms",
    "gpu_sample_source",
    "gpu_sample_quality",
    "gpu_sample_window_ms",
    "gpu_mem_used_mb",
    "gpu_mem_total_mb",
    "network_rx_mbps",
    "network_tx_mbps",
    "admission_state",
    "resource_ts_ms",
    "resource_reported_at",
    "resource_report_monotonic_ms",
    "resource_report_wall_time_ms",
    "reported_instance_id",
]


def read(snapshot: Mapping[str, object], **metadata: object) -> Resource:
    return normalise(snapshot, metadata, NOW)


def read_gpus(*gpus: object) -> Resource:
    return read({"timestamp_ms": 10_000, "devices": {"gpu": list(gpus)}})


def test_a_whole_snapshot_is_read_field_by_field() -> None:
    snapshot = {
        "timestamp_ms": 1_800_000_000_100,
        "devices": {
            "cpu": {"utilization_pct": 12.5, "load1": 3},
            "memory": {"used_mb": 300, "total_mb": 1000, "free_mb": 700},
            "network": [{"iface": "eth0", "rx_mbps": 8.5, "tx_mbps": 1}, {"rx_mbps": 999}],
            "gpu": [
                {
                    "utilization_pct": 41,
                    "utilization_pct_avg": 40,
                    "utilization_pct_current": 10,
                    "utilization_pct_max": 90,
                    "utilization_sample_count": 5,
                    "utilization_window_ms": 5000,
                    "utilization_source": "nvml",
                    "utilization_sample_ok": True,
                    "utilization_sample_quality": "ok",
                    "utilization_sample_timestamp_ms": 1_800_000_000_060,
                    "memory_used_mb": 100,
                    "memory_total_mb": 400,
                },
                {
                    "utilization_pct_avg": 60,
                    "utilization_pct_current": 30,
                    "utilization_pct_max": 70,
                    "utilization_sample_count": 4,
                    "utilization_window_ms": 6000,
                    "utilization_sample_timestamp_ms": 1_800_000_000_050,
                    "memory_used_mb": 50,
                    "memory_total_mb": 400,
                },
            ],
        },
        "capacity_hint": {"memory_free_ratio": 0.7, "admission_state": "accepting"},
    }
    metadata = {
        "reported_instance_id": "i-1",
        "report_monotonic_ms": 77,
        "report_wall_time_ms": 1_800_000_000_200,
        "agent_snapshot_timestamp_ms": 1,
    }

    resource = normalise(snapshot, metadata, NOW)

    assert resource.as_wire(raw=True) == {
        "cpu_util": 12.5,
        "memory_used_mb": 300.0,
        "memory_total_mb": 1000.0,
        "memory_free_mb": 700.0,
        "memory_free_ratio": 0.7,
        "gpu_util_avg": 50.0,
        "gpu_util_current": 20.0,
        "gpu_util_max": 90.0,
        "gpu_sample_count": 9,
        "gpu_sample_age_ms": 40,
        "gpu_sample_source": "nvml",
        "gpu_sample_quality": "ok",
        "gpu_sample_window_ms": 6000,
        "gpu_mem_used_mb": 150.0,
        "gpu_mem_total_mb": 800.0,
        "network_rx_mbps": 8.5,
        "network_tx_mbps": 1.0,
        "admission_state": "accepting",
        "resource_ts_ms": 1_800_000_000_100,
        "resource_reported_at": 1_800_000_000,
        "resource_report_monotonic_ms": 77,
        "resource_report_wall_time_ms": 1_800_000_000_200,
        "reported_instance_id": "i-1",
        "raw_resource": snapshot,
    }


def test_the_wire_has_the_published_fields_in_the_published_order() -> None:
    assert list(Resource().as_wire(raw=False)) == PUBLISHED_FIELDS
    assert list(Resource().as_wire(raw=True)) == [*PUBLISHED_FIELDS, "raw_resource"]


def test_an_instance_that_never_reported_has_only_nulls_and_an_empty_raw_resource() -> None:
    wire = Resource().as_wire(raw=True)

    assert wire.pop("raw_resource") == {}
    assert set(wire.values()) == {None}
    assert not Resource().is_reported


def test_an_empty_snapshot_is_not_a_report_of_anything() -> None:
    resource = read({})

    assert not resource.is_reported
    assert resource.resource_reported_at == 1_800_000_000


@pytest.mark.parametrize(
    "junk",
    [
        *("", " ", "N/A", "[N/A]", "Not Supported", "[Not Supported]", "12 %", "1_000", "0x10"),
        *("9" * 65, "nan", "inf", "1e999", float("nan"), float("inf"), float("-inf"), 10**400),
        *(True, False, None, [], [1], {}, {"a": 1}),
    ],
)
def test_what_is_no_number_is_null_and_never_zero(junk: object) -> None:
    resource = read(
        {
            "timestamp_ms": junk,
            "devices": {
                "cpu": {"utilization_pct": junk},
                "network": [{"rx_mbps": junk}],
                "gpu": [{"util": junk, "memory_used_mb": junk, "utilization_sample_count": junk}],
            },
        },
        report_monotonic_ms=junk,
    )

    assert resource.cpu_util is None
    assert resource.network_rx_mbps is None
    assert resource.gpu_util_avg is None
    assert resource.gpu_mem_used_mb is None
    assert resource.gpu_sample_count is None
    assert resource.resource_ts_ms is None
    assert resource.resource_report_monotonic_ms is None


@pytest.mark.parametrize(
    ("text", "value"), [("12.5", 12.5), (" 7 ", 7.0), ("0", 0.0), ("1e2", 100)]
)
def test_a_number_in_text_is_a_number(text: str, value: float) -> None:
    assert read({"devices": {"cpu": {"utilization_pct": text}}}).cpu_util == value


def test_a_measured_zero_stays_zero() -> None:
    resource = read_gpus({"util": 0, "memory_used_mb": 0, "memory_total_mb": 80_000})

    assert resource.gpu_util_avg == 0.0
    assert resource.gpu_mem_used_mb == 0.0


@pytest.mark.parametrize(
    "name",
    ["utilization_pct_avg", "utilization_pct", "utilization_gpu_pct", "gpu_util", "util"],
)
def test_each_known_name_of_the_average_is_understood(name: str) -> None:
    assert read_gpus({name: 42}).gpu_util_avg == 42.0


def test_a_name_that_holds_no_number_gives_way_to_the_next() -> None:
    assert read_gpus({"utilization_pct_avg": "N/A", "gpu_util": "42"}).gpu_util_avg == 42.0


@pytest.mark.parametrize(
    "mark",
    [{"utilization_sample_ok": False}]
    + [
        {"utilization_sample_quality": quality}
        for quality in ("invalid", "failed", "ERROR", "command_error", "parse_error", "unsupported")
    ],
)
def test_an_invalid_gpu_counts_in_no_utilisation(mark: dict[str, object]) -> None:
    bad = {"utilization_pct": 100, "utilization_pct_current": 100, "utilization_pct_max": 100}
    good = {"utilization_pct": 10, "utilization_pct_current": 20, "utilization_pct_max": 30}

    both, only_bad = read_gpus({**bad, **mark}, good), read_gpus({**bad, **mark})

    assert (both.gpu_util_avg, both.gpu_util_current, both.gpu_util_max) == (10.0, 20.0, 30.0)
    assert both.gpu_sample_quality == "ok"
    assert (only_bad.gpu_util_avg, only_bad.gpu_util_current, only_bad.gpu_util_max) == (None,) * 3


def test_the_stand_in_for_no_gpu_is_null_in_every_gpu_number() -> None:
    stand_in = {
        "index": None,
        "utilization_pct": None,
        "utilization_sample_ok": False,
        "utilization_source": "nvidia-smi",
        "utilization_sample_quality": "command_error",
        "memory_used_mb": None,
        "memory_total_mb": None,
        "health": "error",
    }

    resource = read_gpus(stand_in)

    assert resource.gpu_mem_used_mb is None
    assert resource.gpu_mem_total_mb is None
    assert resource.gpu_util_avg is None
    assert resource.gpu_sample_quality == "command_error"
    assert resource.gpu_sample_source == "nvidia-smi"


def test_a_gpu_of_no_memory_at_all_is_a_stand_in_too() -> None:
    resource = read_gpus({"memory_used_mb": 0, "memory_total_mb": 0})

    assert (resource.gpu_mem_used_mb, resource.gpu_mem_total_mb) == (None, None)


def test_a_partitioned_gpu_without_utilisation_still_has_its_memory() -> None:
    resource = read_gpus(
        {
            "utilization_sample_quality": "unsupported",
            "memory_used_mb": 10,
            "memory_total_mb": 40,
        },
    )

    assert (resource.gpu_mem_used_mb, resource.gpu_mem_total_mb) == (10.0, 40.0)
    assert resource.gpu_util_avg is None


def test_no_gpu_is_null_not_zero() -> None:
    resource = read_gpus()

    gpu_fields = [name for name in PUBLISHED_FIELDS if name.startswith("gpu_")]
    assert {resource.as_wire(raw=False)[name] for name in gpu_fields} == {None}


def test_the_age_of_a_sample_from_the_future_is_zero() -> None:
    assert read_gpus({"utilization_sample_timestamp_ms": 99_999}).gpu_sample_age_ms == 0


def test_the_age_follows_the_newest_sample() -> None:
    resource = read_gpus(
        {"utilization_sample_timestamp_ms": 9_000},
        {"utilization_sample_timestamp_ms": "9900"},
    )

    assert resource.gpu_sample_age_ms == 100


def test_the_age_of_a_report_is_told_by_the_monotonic_clock_and_is_never_negative() -> None:
    resource = read({"timestamp_ms": 1})

    assert resource.age_s(Instant(mono_s=53.5, wall_s=0.0)) == 3.5
    assert resource.age_s(Instant(mono_s=49.0, wall_s=0.0)) == 0.0
    assert Resource().age_s(NOW) is None


@pytest.mark.parametrize(
    ("timestamp", "skew_ms"),
    [
        (NOW.wall_ms + 600_000, 600_000),
        (NOW.wall_ms - 600_000, -600_000),
        (NOW.wall_ms // 1000, NOW.wall_ms // 1000 - NOW.wall_ms),
        (str(NOW.wall_ms), 0),
        (None, None),
    ],
)
def test_a_wrong_clock_of_the_sender_is_only_information(
    timestamp: object,
    skew_ms: int | None,
) -> None:
    resource = read({"timestamp_ms": timestamp})

    assert resource.clock_skew_ms == skew_ms
    assert resource.resource_reported_at == 1_800_000_000
    assert resource.age_s(NOW) == 0.0


def test_a_large_timestamp_keeps_every_digit() -> None:
    assert read({"timestamp_ms": 2**53 + 1}).resource_ts_ms == 2**53 + 1


def test_sums_that_overflow_are_unknown() -> None:
    huge = {"util": 1.7e308, "memory_used_mb": 1.7e308}

    resource = read_gpus(huge, huge)

    assert resource.gpu_util_avg is None
    assert resource.gpu_mem_used_mb is None


def test_text_is_trimmed_and_bounded_and_blank_is_null() -> None:
    resource = read({"capacity_hint": {"admission_state": "x" * 10_000}}, reported_instance_id=" ")

    assert resource.admission_state == "x" * MAX_TEXT_CHARS
    assert resource.reported_instance_id is None
    assert (
        read({"capacity_hint": {"admission_state": " accepting\n"}}).admission_state == "accepting"
    )


def test_raw_resource_is_a_copy_without_what_no_reply_could_carry() -> None:
    snapshot = {
        "nan": [float("nan"), 1.5],
        "huge": 10**400,
        "half\ud800": "\ud800 ü",
        "kept": {"a": [None, True, "ü", -3]},
    }

    raw = read(snapshot).raw_resource

    assert raw == {
        "nan": [None, 1.5],
        "huge": None,
        "half?": "? ü",
        "kept": {"a": [None, True, "ü", -3]},
    }
    assert raw["kept"] is not snapshot["kept"]


def test_nesting_beyond_any_purpose_is_cut_off() -> None:
    nested: object = 1
    for _ in range(100_000):
        nested = [nested]

    assert read({"deep": nested}).is_reported


def test_a_resource_is_a_value() -> None:
    assert read({"timestamp_ms": 5}) == replace(read({"timestamp_ms": 5}))


_NAMES = st.sampled_from(
    [
        *("devices", "cpu", "memory", "gpu", "network", "capacity_hint", "timestamp_ms", "util"),
        *("utilization_pct", "utilization_pct_max", "utilization_sample_count", "used_mb"),
        *("utilization_sample_timestamp_ms", "utilization_sample_quality", "memory_used_mb"),
        *("admission_state", "memory_free_ratio", "reported_instance_id", "rx_mbps"),
        *("report_monotonic_ms", "half\ud800", ""),
    ],
)
_TEXTS = st.text("aü\ud800 0.-", max_size=6)
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | _TEXTS
    | st.sampled_from(["N/A", "12", "-1e308", 10**300, -(2**63), "ok", "error"])
)
_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=30,
)
_OBJECTS = st.dictionaries(_NAMES, _JSON, max_size=6)
_SHAPED = st.fixed_dictionaries(
    {"devices": st.fixed_dictionaries({"gpu": st.lists(_OBJECTS, max_size=3), "network": _JSON})},
)


@given(snapshot=_OBJECTS | _SHAPED, metadata=_OBJECTS)
def test_nothing_a_snapshot_holds_can_raise_or_spoil_a_reply(
    snapshot: dict[str, object],
    metadata: dict[str, object],
) -> None:
    wire = normalise(snapshot, metadata, NOW).as_wire(raw=True)

    assert json.dumps(wire, ensure_ascii=False, allow_nan=False).encode()
    assert list(wire) == [*PUBLISHED_FIELDS, "raw_resource"]
    age_ms = wire["gpu_sample_age_ms"]
    assert age_ms is None or (isinstance(age_ms, int) and age_ms >= 0)
