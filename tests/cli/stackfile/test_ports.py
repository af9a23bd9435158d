"""Every process gets its port, and no two the same."""

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.stackfile.ports import BadPorts, PortBook
from cacheroute_cli.stackfile.tree import AUTO


def test_ports_are_counted_on_and_moved_by_the_offset() -> None:
    book = PortBook(offset=100)

    assert [book.number(f"i-{n}", "instance", 9001, step=n) for n in range(3)] == [9101, 9102, 9103]


def test_a_chosen_port_is_remembered_and_never_given_twice() -> None:
    found = iter([7001, 7002, 7002, 7003])
    book = PortBook(remembered={"a": {"service": 6000}}, find=lambda: next(found))

    assert book.number("a", "service", AUTO) == 6000
    assert book.number("p", "service", 7001) == 7001
    assert book.number("b", "service", AUTO) == 7002
    assert book.number("b", "control", AUTO) == 7003


def test_a_port_of_two_processes_is_told_with_both() -> None:
    book = PortBook()
    book.number("a", "service", 8001)

    with pytest.raises(BadPorts) as caught:
        book.number("b", "control", 8001)

    assert caught.value.exit == Exit.USAGE
    assert caught.value.message == (
        "port 8001 is both the service port of a and the control port of b"
    )


def test_a_port_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BadPorts, match="would be 65536; the last one is 65535"):
        PortBook(offset=36).number("a", "service", 65_500)


def test_no_free_port_ends_in_a_sentence() -> None:
    book = PortBook(find=lambda: 1)
    book.number("a", "service", 1)

    with pytest.raises(BadPorts, match="no free port was found for b"):
        book.number("b", "service", AUTO)
