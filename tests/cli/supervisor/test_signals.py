"""A signal is one exception, at one place, once."""

import asyncio
import os
import signal

import pytest

from cacheroute_cli.supervisor.signals import Signals, Stopped


def test_the_first_signal_raises_and_later_ones_are_counted() -> None:
    with Signals() as signals:
        with pytest.raises(Stopped) as caught:
            os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)

        assert caught.value.number == signal.SIGTERM
        assert signals.ignored == 2


def test_once_told_to_it_only_counts() -> None:
    with Signals() as signals:
        signals.only_count()
        os.kill(os.getpid(), signal.SIGINT)

        assert signals.ignored == 1


def test_afterwards_everything_is_as_it_was() -> None:
    before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]

    with Signals():
        pass

    assert before == [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]


def test_a_signal_that_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Signals():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_coroutine_is_run_to_its_end() -> None:
    async def answer() -> int:
        await asyncio.sleep(0)
        return 42

    with Signals() as signals:
        assert signals.run(answer()) == 42


def test_a_signal_cancels_the_coroutine_and_is_raised_after_it_has_tidied_up() -> None:
    tidied = False

    async def work() -> None:
        nonlocal tidied
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.Event().wait()
        finally:
            tidied = True

    with Signals() as signals, pytest.raises(Stopped) as caught:
        signals.run(work())

    assert caught.value.number == signal.SIGTERM
    assert tidied


def test_after_a_coroutine_signals_raise_again() -> None:
    async def nothing() -> None:
        return

    with Signals() as signals:
        signals.run(nothing())

        with pytest.raises(Stopped):
            os.kill(os.getpid(), signal.SIGTERM)
