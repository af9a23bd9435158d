"""The beat of a watch."""

import os
import signal
import threading

from cacheroute_cli.pace import Pace


def test_the_first_look_is_due_at_once() -> None:
    with Pace(3600) as pace:
        assert pace.is_due()


def test_a_look_that_took_too_long_is_not_made_up_for() -> None:
    with Pace(0.0) as pace:
        for _ in range(3):
            pace.next()
            assert pace.is_due()


def test_a_change_of_the_terminals_size_cuts_a_wait_short() -> None:
    with Pace(3600) as pace:
        pace.next()
        sender = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGWINCH))
        sender.start()

        assert not pace.is_due()
        sender.join()


def test_another_signal_does_not() -> None:
    previous = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with Pace(0.05) as pace:
            pace.next()
            os.kill(os.getpid(), signal.SIGUSR1)
            assert pace.is_due()
    finally:
        signal.signal(signal.SIGUSR1, previous)


def test_everything_is_put_back() -> None:
    before = signal.getsignal(signal.SIGWINCH), len(os.listdir("/proc/self/fd"))

    with Pace(1):
        assert signal.getsignal(signal.SIGWINCH) is not before[0]

    assert (signal.getsignal(signal.SIGWINCH), len(os.listdir("/proc/self/fd"))) == before
