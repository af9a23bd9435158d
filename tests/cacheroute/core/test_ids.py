import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cacheroute.core.ids import MAX_REQUEST_ID_CHARS, RequestIds, is_request_id

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize(
    "value",
    [b"a", b"req-5f2c9a01be77-1a", b"3fa85f64-5717-4562-b3fc-2c963f66afa6", b"a/b:c=d~e+f@g.h_i"],
)
def test_an_id_that_can_be_logged_and_echoed_is_kept(value: bytes) -> None:
    assert is_request_id(value)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"a b",
        b"a\tb",
        b"a\r\nX-Evil: 1",
        b'a"b',
        b"a,b",
        b"a;b",
        b"\x00",
        "ä".encode(),
        b"\xff",
    ],
)
def test_an_id_that_could_hurt_a_log_or_a_header_is_not(value: bytes) -> None:
    assert not is_request_id(value)


def test_an_id_has_a_longest_length() -> None:
    assert is_request_id(b"x" * MAX_REQUEST_ID_CHARS)
    assert not is_request_id(b"x" * (MAX_REQUEST_ID_CHARS + 1))


@patient
@given(st.binary(max_size=140))
def test_whatever_is_kept_is_plain_printable_text(value: bytes) -> None:
    if is_request_id(value):
        assert value.decode("ascii").isprintable()
        assert b" " not in value


def test_ids_that_are_made_count_up_behind_the_stem_of_this_process() -> None:
    ids = RequestIds(lambda count: bytes(range(count)))
    made = [ids.next() for _ in range(17)]
    assert made[0] == "req-000102030405-1"
    assert made[-1] == "req-000102030405-11"
    assert len(set(made)) == 17
    assert all(is_request_id(one.encode()) for one in made)


def test_two_processes_make_different_ids() -> None:
    one, other = RequestIds(lambda n: b"\x01" * n), RequestIds(lambda n: b"\x02" * n)
    assert one.next() != other.next()
