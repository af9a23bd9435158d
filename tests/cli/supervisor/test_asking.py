"""A command's side: a supervisor that is not there, silent, gone, or of another version."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.asking import (
    NoSupervisor,
    NotUnderstood,
    SupervisorGone,
    SupervisorSilent,
    ask,
)
from cacheroute_cli.supervisor.desk import listen_at
from cacheroute_cli.supervisor.messages import Reply, Request, encode
from cacheroute_cli.supervisor.stack_home import StackHome

PS = Request(do="ps")


@contextmanager
def a_desk(home: StackHome, answer: Callable[[socket.socket], None]) -> Iterator[None]:
    home.prepare()
    with closing(listen_at(home.socket({}))) as listener:
        listener.setblocking(True)

        def serve() -> None:
            connection, _ = listener.accept()
            with closing(connection):
                connection.recv(1000)
                answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield
        thread.join(timeout=10)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StackHome:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return StackHome("s", tmp_path)


def test_a_stack_that_is_not_up_is_told_with_the_way_out(home: StackHome) -> None:
    with pytest.raises(NoSupervisor, match="stack s is not up") as caught:
        ask(home, PS, print)

    assert caught.value.exit == Exit.NOT_FOUND
    assert "cacheroute up" in (caught.value.hint or "")


def test_a_socket_that_nobody_listens_on_is_no_supervisor(home: StackHome) -> None:
    home.prepare()
    listen_at(home.socket({})).close()

    with pytest.raises(NoSupervisor):
        ask(home, PS, print)


def test_progress_is_passed_on_and_the_last_reply_returned(home: StackHome) -> None:
    told: list[str] = []
    lines = encode(Reply(told="half way")) + encode(Reply(done=True, changed=True))
    with a_desk(home, lambda connection: connection.sendall(lines)):
        reply = ask(home, PS, told.append)

    assert (told, reply.changed) == (["half way"], True)


def test_one_that_leaves_in_the_middle_is_gone(home: StackHome) -> None:
    with (
        a_desk(home, lambda connection: connection.sendall(encode(Reply(told="x")))),
        pytest.raises(SupervisorGone, match="ended in the middle of 'ps'"),
    ):
        ask(home, PS, lambda _: None)


def test_one_that_says_nothing_is_not_waited_for(home: StackHome) -> None:
    said = threading.Event()
    with a_desk(home, lambda _: _wait_for(said)):
        with pytest.raises(SupervisorSilent) as caught:
            ask(home, PS, print, silence_s=0.05)
        said.set()

    assert caught.value.exit == Exit.UNREACHABLE


def _wait_for(said: threading.Event) -> None:
    said.wait(10)


def test_one_of_another_version_is_not_understood(home: StackHome) -> None:
    with (
        a_desk(home, lambda connection: connection.sendall(b'{"done": "maybe"}\n')),
        pytest.raises(NotUnderstood) as caught,
    ):
        ask(home, PS, print)

    assert caught.value.exit == Exit.NOT_UNDERSTOOD


def test_one_that_leaves_before_it_has_read_the_request_is_gone(home: StackHome) -> None:
    long = Request(do="start", names=("x" * 4_000_000,))
    with a_desk(home, lambda _: None), pytest.raises(SupervisorGone):
        ask(home, long, print)


def test_one_that_reads_no_request_is_not_waited_for(home: StackHome) -> None:
    said = threading.Event()
    long = Request(do="start", names=("x" * 4_000_000,))
    with a_desk(home, lambda _: _wait_for(said)):
        with pytest.raises(SupervisorSilent):
            ask(home, long, print, silence_s=0.05)
        said.set()
