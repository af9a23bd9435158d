import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.formats.units import parse_bytes, parse_duration, render_bytes, render_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30.0),
        ("5m", 300.0),
        ("2h", 7200.0),
        ("1h30m", 5400.0),
        ("500ms", 0.5),
        ("1.5s", 1.5),
        ("1d", 86400.0),
        ("250us", 0.00025),
        ("45", 45.0),
        ("0.25", 0.25),
        (" 30s ", 30.0),
        ("0", 0.0),
    ],
)
def test_a_duration_is_read_as_people_write_it(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    ["", "abc", "1:30", "30 s", "s", "m30", "30m1h", "1h1h", "1e3", "nan", "inf", "٣s", "9" * 65],
)
def test_what_is_no_duration_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="500ms, 30s, 5m or 1h30m"):
        parse_duration(text)


def test_a_negative_duration_is_named_as_such() -> None:
    with pytest.raises(ValueError, match="must not be negative, as '-5s' is"):
        parse_duration("-5s")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (90, "1m30s"), (5400.0, "1h30m"), (0.5, "500ms"), (1.5, "1.5s"), (86400, "24h")],
)
def test_a_duration_is_written_in_the_largest_units(seconds: float, text: str) -> None:
    assert render_duration(seconds) == text


@given(st.floats(min_value=0, max_value=1e9) | st.integers(min_value=0, max_value=10**9))
def test_a_written_duration_reads_back_as_itself(seconds: float) -> None:
    assert parse_duration(render_duration(seconds)) == pytest.approx(seconds, abs=1e-15)


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_what_is_no_duration_is_not_written(seconds: float) -> None:
    with pytest.raises(ValueError, match="finite and not negative"):
        render_duration(seconds)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64KiB", 65536),
        ("32MiB", 33554432),
        ("32 mib", 33554432),
        ("1kB", 1000),
        ("1.5MiB", 1572864),
        ("1024", 1024),
        ("7B", 7),
        ("0", 0),
    ],
)
def test_a_size_is_read_as_people_write_it(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "64K", "0.3B", "1.0001KiB", "MiB", "1XB", "1e6", "9" * 65])
def test_what_is_no_size_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="64KiB or 32MiB"):
        parse_bytes(text)


def test_a_negative_size_is_named_as_such() -> None:
    with pytest.raises(ValueError, match="must not be negative, as '-1KiB' is"):
        parse_bytes("-1KiB")
    with pytest.raises(ValueError, match="not negative, not -1"):
        render_bytes(-1)


@given(st.integers(min_value=0, max_value=2**50))
def test_a_written_size_reads_back_as_itself(size: int) -> None:
    assert parse_bytes(render_bytes(size)) == size


def test_a_size_is_written_in_the_largest_whole_unit() -> None:
    assert [render_bytes(size) for size in (0, 1000, 65536, 3 * 1024**2)] == [
        "0B",
        "1000B",
        "64KiB",
        "3MiB",
    ]
