"""The clients of the bench count what a router sends, however it is cut."""

import asyncio
from typing import Any

import pytest

from tests.bench import payloads
from tests.bench.load import Client, Clients, Order

STREAM = payloads.STREAM_HEAD + payloads.STREAM_FIRST + payloads.STREAM_TOKEN + payloads.STREAM_LAST
EVENTS = 3


class Wire(asyncio.Transport):
    """Notes what a client does to its connection."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.aborted = False

    def write(self, data: Any) -> None:
        self.written.append(bytes(data))

    def abort(self) -> None:
        self.aborted = True


def a_client(every_us: int | None) -> tuple[Clients, Client, Wire]:
    """Return a connected client and what it counts in."""
    clients = Clients(
        Order(
            port=1, connections=1, size="2k", every_us=every_us, warm_s=0, window_s=0, pids=[]
        )
    )  # fmt: skip
    client, wire = Client(clients), Wire()
    client.connection_made(wire)
    return clients, client, wire


def test_a_request_has_the_size_it_says_and_names_its_pace() -> None:
    plain = payloads.requests("30k")[0]
    assert len(plain.partition(b"\r\n\r\n")[2]) == 30 * 1024
    assert payloads.pace_of(plain) is None
    paced = payloads.requests("2k", every_us=1000)[0]
    assert payloads.pace_of(paced) == (payloads.EVENTS_PER_STREAM, 1000)


def test_events_are_counted_wherever_a_stream_is_cut() -> None:
    for cut in range(1, len(STREAM)):
        clients, client, wire = a_client(every_us=1000)
        client.data_received(STREAM[:cut])
        client.data_received(STREAM[cut:])
        assert (clients.events, clients.answers, len(wire.written)) == (EVENTS, 1, 2), cut


def test_events_are_counted_byte_by_byte() -> None:
    clients, client, _ = a_client(every_us=1000)
    for number in range(len(STREAM)):
        client.data_received(STREAM[number : number + 1])
    assert (clients.events, clients.answers) == (EVENTS, 1)


@pytest.mark.parametrize("cut", [20, 60, 200, len(payloads.JSON_ANSWER) - 5])
def test_an_answer_counts_once_it_is_whole(cut: int) -> None:
    clients, client, _ = a_client(every_us=None)
    client.data_received(payloads.JSON_ANSWER[:cut])
    assert clients.answers == 0
    client.data_received(payloads.JSON_ANSWER[cut:])
    assert clients.answers == 1


def test_an_answer_that_is_not_200_ends_the_connection_and_the_measurement() -> None:
    clients, client, wire = a_client(every_us=None)
    client.data_received(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n")
    client.connection_lost(None)
    assert wire.aborted
    assert clients.bad == 1
    assert clients.reached.is_set()
