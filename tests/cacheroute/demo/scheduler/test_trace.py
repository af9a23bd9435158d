from cacheroute.demo.scheduler.trace import trace_headers


def headers(**fields: object) -> dict[bytes, bytes]:
    given: dict[str, object] = {
        "wall_s": 1_700_000_000.25, "profile": "legacy", "sampled": False,
        "random_bytes": lambda count: b"\xab" * count, **fields,
    }  # fmt: skip
    return dict(trace_headers(7, **given))  # type: ignore[arg-type]


def test_the_six_headers_are_as_published() -> None:
    assert headers() == {
        b"scheduler-request-id": b"7",
        b"x-cacheroute-trace-version": b"observability.v1",
        b"x-cacheroute-trace-id": b"trace_" + b"ab" * 16,
        b"x-cacheroute-runtime-profile": b"legacy",
        b"x-cacheroute-trace-sampled": b"0",
        b"x-cacheroute-trace-created-at": b"2023-11-14T22:13:20.250000Z",
    }


def test_a_full_second_has_its_microseconds_too() -> None:
    created = headers(wall_s=1_700_000_000.0)[b"x-cacheroute-trace-created-at"]

    assert created == b"2023-11-14T22:13:20.000000Z"


def test_profile_and_sampling_are_said() -> None:
    told = headers(profile="test/mock", sampled=True)

    assert told[b"x-cacheroute-runtime-profile"] == b"test/mock"
    assert told[b"x-cacheroute-trace-sampled"] == b"1"
