"""The desk: a snapshot first, then every change; who reads too slowly is dropped."""

import os
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cacheroute_cli.supervisor.asking import replies
from cacheroute_cli.supervisor.desk import listen_at
from cacheroute_cli.supervisor.messages import Reply, Request, encode, read_reply
from tests.cli.supervisor.children import eventually
from tests.cli.supervisor.stacks import Supervised, a_plan, supervised


@pytest.fixture
def it(tmp_path: Path) -> Iterator[Supervised]:
    with supervised(tmp_path) as supervisor:
        yield supervisor


def test_a_watch_begins_with_a_snapshot_and_tells_each_change(it: Supervised) -> None:
    it.ask("apply", a_plan("a"))
    stream = replies(it.home, Request(do="watch"), silence_s=20)

    first = next(stream)
    assert first.snapshot is not None
    assert [status.name for status in first.snapshot] == ["a"]
    it.ask("stop", names=["a"])
    changes = [next(stream), next(stream)]
    assert [c.process.state for c in changes if c.process] == ["stopping", "stopped"]
    it.ask("down")
    assert [reply.gone for reply in stream] == ["a"]


def test_who_does_not_read_holds_nobody_up(it: Supervised) -> None:
    it.ask("apply", a_plan("a"))
    with closing(_connected(it)) as deaf:
        deaf.sendall(encode(Request(do="watch")))
        for _ in range(3):
            it.ask("restart", names=["a"])

        assert it.status("a").ready


def test_a_command_that_leaves_does_not_take_its_change_with_it(it: Supervised) -> None:
    with closing(_connected(it)) as leaving:
        leaving.sendall(encode(Request(do="apply", plans=(a_plan("a"), a_plan("b")))))

    assert eventually(lambda: len(it.ask("ps").snapshot or ()) == 2)
    assert eventually(lambda: bool(it.status("b").ready))


def test_a_socket_that_nobody_listens_on_any_more_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "run" / "s.sock"
    listen_at(path).close()
    assert path.exists()

    with closing(listen_at(path)) as listener, closing(socket.socket(socket.AF_UNIX)) as asking:
        asking.connect(str(path))
        listener.accept()[0].close()

    assert path.stat().st_mode & 0o777 == 0o600


def _connected(it: Supervised) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    folder = os.open(it.home.socket().parent, os.O_PATH)
    connection.connect(f"/proc/self/fd/{folder}/{it.home.socket().name}")
    os.close(folder)
    return connection


def test_a_last_reply_says_whether_there_was_anything_to_do(it: Supervised) -> None:
    with closing(_connected(it)) as connection:
        connection.sendall(encode(Request(do="ps")))
        reply = read_reply(connection.makefile("rb").readline())

    assert reply == Reply(done=True, changed=False, snapshot=())
