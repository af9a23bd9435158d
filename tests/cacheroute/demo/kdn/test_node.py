import socket
from dataclasses import replace
from pathlib import Path

import pytest

from cacheroute.demo.kdn.node import Node
from cacheroute.member.listeners import CannotListen
from tests.cacheroute.demo.kdn.live import OPTIONS, exists, live


async def test_it_has_the_identity_it_was_told() -> None:
    async with live(kdn_id="k-1", advertise_host="kdn.example", advertise_port=80) as node:
        assert node.node.identity() == ("k-1", "kdn.example", 80)


async def test_an_identity_of_its_own_names_where_it_is_found() -> None:
    async with live() as node:
        port = node.node.port
        assert node.node.identity() == (f"kdn_127.0.0.1:{port}", "127.0.0.1", port)


async def test_what_it_knows_outlives_it_in_a_named_file(tmp_path: Path) -> None:
    file = str(tmp_path / "k.sqlite3")
    async with live(db=file) as node:
        kid = await node.register("hello")

    async with live(db=file) as node:
        assert list(node.node.texts.find([kid])) == [kid]


async def test_a_taken_port_leaves_nothing_behind() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        node = Node(replace(OPTIONS, port=taken.getsockname()[1]))

        with pytest.raises(CannotListen, match="in use"):
            await node.open()

    assert not exists(node.database.path)
