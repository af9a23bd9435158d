import pytest

from cacheroute.demo import kv_blob
from cacheroute.demo.kv_blob import HEADER_BYTES, PAYLOAD_BYTES


def test_a_small_blob_stands_for_a_large_one() -> None:
    blob = kv_blob.pack(256, 24_576_000)
    assert len(blob) == HEADER_BYTES + PAYLOAD_BYTES == 280
    assert (kv_blob.nominal_bytes(blob), kv_blob.tokens(blob)) == (24_576_000, 256)


def test_the_header_is_the_agreed_one() -> None:
    assert kv_blob.pack(1, 2)[:HEADER_BYTES] == (
        b"CRKV\x01\0\0\0" + (2).to_bytes(8, "big") + (1).to_bytes(8, "big")
    )


@pytest.mark.parametrize(
    "value", [b"", b"CRKV", b"x" * 300, b"CRKV\x02" + bytes(300), kv_blob.pack(1, 9)[:23]]
)
def test_any_other_value_is_as_large_as_it_is(value: bytes) -> None:
    assert (kv_blob.nominal_bytes(value), kv_blob.tokens(value)) == (len(value), None)


@pytest.mark.parametrize(("tokens", "size"), [(0, 1), (-1, 1), (1, -1), (1, 1 << 64), (1 << 64, 1)])
def test_what_no_kv_can_be_is_refused(tokens: int, size: int) -> None:
    with pytest.raises(ValueError, match=f"{tokens} tokens in {size} bytes"):
        kv_blob.pack(tokens, size)
