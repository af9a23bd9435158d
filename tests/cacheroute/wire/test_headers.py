"""Every header name, once."""

from cacheroute.wire import headers


def test_no_header_has_two_names() -> None:
    names = [value.lower() for name, value in vars(headers).items() if name.isupper()]
    assert len(names) == len(set(names))


def test_the_data_plane_compares_lower_case_bytes() -> None:
    assert headers.lower(headers.INSTANCE) == b"x-cacheroute-instance"
