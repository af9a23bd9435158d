"""Everybody is told, and nobody is waited for."""

import pytest

from cacheroute_cli.supervisor import watchers as module
from cacheroute_cli.supervisor.faults import StateLocked
from cacheroute_cli.supervisor.messages import Reply
from cacheroute_cli.supervisor.watchers import MAX_WAITING, Watchers


def test_a_watcher_gets_a_snapshot_and_then_every_change() -> None:
    watchers = Watchers()
    with watchers.watching(()) as queue:
        watchers.publish(Reply(gone="a"))

        assert [queue.get_nowait() for _ in range(2)] == [Reply(snapshot=()), Reply(gone="a")]
    assert not watchers.has(queue)


def test_who_lets_its_queue_fill_up_is_dropped_and_the_others_are_not() -> None:
    watchers = Watchers()
    with watchers.watching(()) as slow, watchers.watching(()) as quick:
        for _ in range(MAX_WAITING):
            watchers.publish(Reply(gone="a"))
            quick.get_nowait()

        assert not watchers.has(slow)
        assert watchers.has(quick)


def test_there_is_an_end_to_how_many_may_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WATCHERS", 1)
    watchers = Watchers()
    with (
        watchers.watching(()),
        pytest.raises(StateLocked, match="1 others watch"),
        watchers.watching(()),
    ):
        pass
