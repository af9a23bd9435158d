"""A coroutine goes on within the call that raises its signal, and no later."""

from collections.abc import Coroutine

import pytest

from cacheroute.dataplane.turns import Signal, Turns


class Story:
    """A coroutine that waits on a signal over and over, and notes what happens to it."""

    def __init__(self) -> None:
        self.signal = Signal()
        self.notes: list[str] = []
        self.crashes: list[BaseException] = []

    def started(self, coroutine: Coroutine[Signal, None, None]) -> Turns:
        """Run a coroutine to its first wait."""
        turns = Turns(coroutine, self.crashes.append)
        turns.resume()
        return turns

    async def waits(self, times: int) -> None:
        """Wait so many times."""
        for turn in range(times):
            await self.signal
            self.notes.append(f"turn {turn}")

    async def endures(self) -> None:
        """Wait; note an interruption and wait once more."""
        try:
            await self.signal
        except LookupError as reason:
            self.notes.append(str(reason.args[0]))
        await self.signal
        self.notes.append("went on")


@pytest.fixture
def story() -> Story:
    return Story()


def test_nothing_runs_before_it_is_resumed(story: Story) -> None:
    async def tell() -> None:
        story.notes.append("begun")

    turns = Turns(tell(), story.crashes.append)
    assert not story.notes
    turns.resume()
    assert story.notes == ["begun"]
    assert turns.done


def test_a_coroutine_goes_on_within_the_call_that_notifies(story: Story) -> None:
    turns = story.started(story.waits(2))
    assert not story.notes
    story.signal.notify()
    assert story.notes == ["turn 0"]
    assert not turns.done
    story.signal.notify()
    assert story.notes == ["turn 0", "turn 1"]
    assert turns.done


def test_a_signal_that_was_raised_before_the_wait_is_not_lost(story: Story) -> None:
    story.signal.notify()
    assert story.started(story.waits(1)).done


def test_a_signal_raised_often_before_the_wait_counts_once(story: Story) -> None:
    story.signal.notify()
    story.signal.notify()
    turns = story.started(story.waits(2))
    assert story.notes == ["turn 0"]
    assert not turns.done
    story.signal.notify()
    assert turns.done


def test_a_signal_raised_by_the_coroutine_itself_ends_its_next_wait(story: Story) -> None:
    async def tell() -> None:
        await story.signal
        story.signal.notify()
        await story.signal

    turns = story.started(tell())
    story.signal.notify()
    assert turns.done
    assert not story.crashes


def test_one_coroutine_can_wake_another_and_goes_on_after_it(story: Story) -> None:
    async def wakes(other: Signal) -> None:
        await story.signal
        other.notify()
        story.notes.append("waker")

    async def woken(own: Signal) -> None:
        await own
        story.notes.append("woken")

    own = Signal()
    both = [story.started(woken(own)), story.started(wakes(own))]
    story.signal.notify()
    assert story.notes == ["woken", "waker"]
    assert all(turns.done for turns in both)


def test_an_interruption_is_raised_where_the_coroutine_waits(story: Story) -> None:
    turns = story.started(story.endures())
    turns.interrupt(LookupError("stop"))
    assert story.notes == ["stop"]
    assert not turns.done
    story.signal.notify()
    assert story.notes == ["stop", "went on"]
    assert turns.done
    assert not story.crashes


def test_after_an_interruption_the_old_signal_wakes_nobody(story: Story) -> None:
    second = Signal()

    async def tell() -> None:
        try:
            await story.signal
        except LookupError:
            await second
        story.notes.append("second")

    turns = story.started(tell())
    turns.interrupt(LookupError())
    story.signal.notify()
    assert not story.notes
    second.notify()
    assert story.notes == ["second"]
    assert turns.done


@pytest.mark.parametrize("raised", [False, True], ids=["waiting", "signal raised as well"])
def test_an_interruption_while_running_is_raised_at_the_next_wait(
    story: Story, raised: bool
) -> None:
    other = Signal()

    async def tell() -> None:
        await story.signal
        turns.interrupt(LookupError("from within"))
        story.notes.append("still running")
        if raised:
            other.notify()
        try:
            await other
            await other
        except LookupError as reason:
            story.notes.append(str(reason.args[0]))

    turns = story.started(tell())
    story.signal.notify()
    assert story.notes == ["still running", "from within"]
    assert turns.done
    other.notify()
    assert not story.crashes


def test_an_interruption_while_running_is_dropped_if_no_wait_follows(story: Story) -> None:
    async def tell() -> None:
        await story.signal
        turns.interrupt(LookupError())

    turns = story.started(tell())
    story.signal.notify()
    assert turns.done
    assert not story.crashes


def test_an_interruption_after_the_end_is_ignored(story: Story) -> None:
    turns = story.started(story.waits(0))
    turns.interrupt(LookupError())
    assert turns.done
    assert not story.crashes


def test_an_interruption_that_nobody_catches_reaches_on_crash_and_runs_finally(
    story: Story,
) -> None:
    async def tell() -> None:
        try:
            await story.signal
        finally:
            story.notes.append("finally")

    reason = LookupError("stop")
    turns = story.started(tell())
    turns.interrupt(reason)
    assert story.notes == ["finally"]
    assert story.crashes == [reason]
    assert turns.done
    story.signal.notify()


def test_a_crash_reaches_on_crash_once_and_not_whoever_notified(story: Story) -> None:
    async def tell() -> None:
        await story.signal
        raise ZeroDivisionError

    turns = story.started(tell())
    story.signal.notify()
    assert [type(crash) for crash in story.crashes] == [ZeroDivisionError]
    assert turns.done
    story.signal.notify()
    turns.interrupt(LookupError())
    assert len(story.crashes) == 1


def test_a_crash_before_the_first_wait_reaches_on_crash(story: Story) -> None:
    async def tell() -> None:
        raise ZeroDivisionError

    assert story.started(tell()).done
    assert [type(crash) for crash in story.crashes] == [ZeroDivisionError]
