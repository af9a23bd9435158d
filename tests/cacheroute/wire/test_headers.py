"""Every header name, once."""

from cacheroute.wire import headers


def test_no_header_has_two_names() -> None:
    names = [value.lower() for name, value in vars(headers).items() if name.isupper()]
    assert len(names) == len(set(names))


def test_names_can_be_written_to_the_wire_as_they_are() -> None:
    for name, value in vars(headers).items():
        if name.isupper():
            assert isinstance(value, bytes)
            assert value.replace(b"-", b"").isalnum()
