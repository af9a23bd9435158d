"""A program that only serves: a signal ends it well, and its line is there before it ends."""

import signal
import subprocess
import sys

import pytest

_PROGRAM = """
from cacheroute.member.running import announce, run_until_signal

async def serve(stopping):
    announce("up")
    await stopping.wait()
    announce("down")

run_until_signal(serve)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_as_it_should_end(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", _PROGRAM], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        # Nothing flushes a pipe but whoever writes, so a line that is read was sent at once.
        assert program.stdout.readline() == b"up\n"
        program.send_signal(number)
        assert program.stdout.read() == b"down\n"
        assert program.wait(30) == 0


def test_what_it_raises_is_raised() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.replace('announce("up")', "raise OSError(98, 'taken')")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert "taken" in done.stderr
