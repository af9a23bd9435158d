"""What both clients share: headers that can be sent, and bounds on what is read."""

import pytest

from cacheroute.client.asker import Asker
from cacheroute.client.asks import STATUS
from cacheroute.client.faults import NotUnderstood, TimedOut
from cacheroute.wire.headers import USER


def test_a_name_is_sent_in_letters_that_a_header_takes() -> None:
    asker = Asker("http://x/", user="Ann\u00e9\n")

    assert asker.base_url == "http://x"
    assert asker._headers[USER.decode()] == "Ann??"


def test_an_answer_may_grow_to_its_bound_and_take_its_time_and_no_more() -> None:
    asker = Asker("http://x", max_reply_bytes=4)
    read = bytearray()

    asker._grown(STATUS, read, b"1234", asker._deadline_s())
    with pytest.raises(NotUnderstood, match="larger than 4 bytes"):
        asker._grown(STATUS, read, b"5", asker._deadline_s())
    with pytest.raises(TimedOut):
        asker._grown(STATUS, bytearray(), b"", float("-inf"))
