import pytest

from cacheroute.demo.body import read_json
from cacheroute.demo.refusal import Refusal


def test_json_is_read() -> None:
    assert read_json(b'{"a": [1, 2.5, "x", null, true]}') == {"a": [1, 2.5, "x", None, True]}


def test_not_a_number_is_read_as_vllm_reads_it() -> None:
    value = read_json(b'{"a": NaN}')["a"]
    assert value != value


def test_the_place_of_the_first_fault_is_told() -> None:
    with pytest.raises(Refusal) as caught:
        read_json(b'{"model": "tiny", "messages": [1, 2,,')
    assert caught.value.param == "body.36"
    assert caught.value.message == (
        "1 validation error:\n  {'type': 'json_invalid', 'loc': 'body.36', 'msg': 'JSON decode "
        "error', 'input': '<dict of 0 items>', 'ctx': {'error': 'Expecting value'}}"
    )


@pytest.mark.parametrize(
    "data",
    [b"", b"  ", b"{", b"\xff\xfe{}", b'"\xff"', b"[" * 100_000, b"9" * 10_000, b'{"a": 1}x'],
)
def test_what_is_no_json_is_a_400(data: bytes) -> None:
    with pytest.raises(Refusal) as caught:
        read_json(data)
    assert caught.value.status == 400
